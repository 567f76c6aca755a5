// Package script is FWP as scripts are written in it and played: what is particular to it in the script language and in
// the engine of package scenarios (a [Dialect]), and the scripts of the suite. It also has what the command line asks
// of a server: what runs have left behind, and which server it is.
package script
