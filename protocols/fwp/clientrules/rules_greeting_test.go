package clientrules

import "github.com/fwpsuite/fwp/protocols/fwp"

const (
	protectedHi = `+HI {"v":2,"i":1545,"s":"55104dc76695721d"}`
	goodHash    = `6d877f8e5544b1f2598768f817413ab8a357afffa924dedae99eb91472d4ec30` // of foobar: FWP-AUTH-03
	hexHash     = `83a82bf9ac5fc6e4dbc3a1a1d4a3ee24a4efd7ae3c6d0e5be4dfb8ad8b9b2b16` // some other
)

func greetingTests() []ruleTest {
	return []ruleTest{
		{breach: BeforeGreeting, name: "HI first", stream: `1 producer`},
		{breach: BeforeGreeting, name: "HI in pieces", stream: `
			1 open
			1 S: "+HI {\"v\""
			+1s
			1 S: ":2}\r\n"
			1 C: HELLO {"v":2}`},
		{breach: BeforeGreeting, name: "HELLO at once", isWrong: true, stream: `
			1 open
			1 C: HELLO {"v":2}
			1 S: +HI {"v":2}
			1 S: +OK`},
		{breach: BeforeGreeting, name: "within HI", isWrong: true, stream: `
			1 open
			1 S: "+HI {\"v\":2}\r"
			1 C: HELLO {"v":2}
			1 S: "\n"`},

		{breach: HelloNotFirst, name: "HELLO first", stream: `1 producer`},
		{breach: HelloNotFirst, name: "a second HELLO", stream: `
			1 producer
			1 C: HELLO {"v":2}`},
		{breach: HelloNotFirst, name: "PUSH first", isWrong: true, stream: `
			1 open
			1 S: +HI {"v":2}
			1 C: PUSH {"jid":"j1","jobtype":"t","args":[]}`},
		{breach: HelloNotFirst, name: "END first", isWrong: true, stream: `
			1 open
			1 S: +HI {"v":2}
			1 C: END`},

		{breach: CommandUnidentified, name: "after OK", stream: `
			1 producer
			1 C: INFO`},
		{breach: CommandUnidentified, name: "declined, and then accepted", stream: `
			1 open
			1 S: +HI {"v":2}
			1 C: HELLO {"v":2}
			1 S: -ERR wait
			1 C: HELLO {"v":2}
			1 S: +OK
			1 C: INFO`},
		{breach: CommandUnidentified, name: "after an error", isWrong: true, stream: `
			1 open
			1 S: +HI {"v":2}
			1 C: HELLO {"v":2}
			1 S: -ERR Invalid password
			1 C: INFO`},
		{breach: CommandUnidentified, name: "never greeted", isWrong: true, others: HelloNotFirst, stream: `
			1 open
			1 S: +HI {"v":2}
			1 C: INFO
			1 S: -ERR unidentified
			1 C: INFO`},

		{breach: HelloVersion, name: "2", stream: `1 producer`},
		{breach: HelloVersion, name: "2.0, which is the same integer", stream: `
			1 open
			1 S: +HI {"v":2}
			1 C: HELLO {"v":2.0}`},
		{breach: HelloVersion, name: "a string", isWrong: true, stream: `
			1 open
			1 S: +HI {"v":2}
			1 C: HELLO {"v":"2"}`},
		{breach: HelloVersion, name: "a fraction", isWrong: true, stream: `
			1 open
			1 S: +HI {"v":2}
			1 C: HELLO {"v":2.1}`},
		{breach: HelloVersion, name: "missing", isWrong: true, stream: `
			1 open
			1 S: +HI {"v":2}
			1 C: HELLO {}`},
		{breach: HelloVersion, name: "that of the server", isWrong: true, stream: `
			1 open
			1 S: +HI {"v":3}
			1 C: HELLO {"v":3}`},

		{breach: NewerVersionRefused, name: "greets", stream: `
			1 open
			1 S: +HI {"v":3}
			1 C: HELLO {"v":2}
			1 S: <close>`},
		{breach: NewerVersionRefused, name: "greets and ends", stream: `
			1 open
			1 S: +HI {"v":30}
			1 C: HELLO {"v":2}
			1 S: +OK
			1 C: END
			1 C: <close>`},
		{breach: NewerVersionRefused, name: "closes", isWrong: true, stream: `
			1 open
			1 S: +HI {"v":3}
			1 C: <close>`},
		{breach: NewerVersionRefused, name: "resets", isWrong: true, stream: `
			1 open
			1 S: +HI {"v":4,"more":1}
			1 C: <reset>`},

		{breach: HiFieldRefused, name: "greets", stream: `
			1 open
			1 S: +HI {"v":2,"server":"x"}
			1 C: HELLO {"v":2}
			1 S: <close>`},
		{breach: HiFieldRefused, name: "greets later", stream: `
			1 open
			1 S: +HI {"more":{"a":[1]},"v":2}
			+1s
			1 C: HELLO {"v":2}
			1 S: +OK
			1 C: END
			1 C: <close>`},
		{breach: HiFieldRefused, name: "closes", isWrong: true, stream: `
			1 open
			1 S: +HI {"v":2,"server":"x"}
			1 C: <close>`},
		{breach: HiFieldRefused, name: "resets", isWrong: true, stream: `
			1 open
			1 S: +HI {"s2":null,"v":2}
			1 C: <reset>`},

		{breach: PasswordMissing, name: "sent", stream: `
			1 open
			1 S: ` + protectedHi + `
			1 C: HELLO {"v":2,"pwdhash":"` + goodHash + `"}`},
		{breach: PasswordMissing, name: "a wrong one", stream: `
			1 open
			1 S: ` + protectedHi + `
			1 C: HELLO {"v":2,"pwdhash":"00"}`},
		{breach: PasswordMissing, name: "missing", isWrong: true, stream: `
			1 open
			1 S: ` + protectedHi + `
			1 C: HELLO {"v":2}`},
		{breach: PasswordMissing, name: "null", isWrong: true, stream: `
			1 open
			1 S: ` + protectedHi + `
			1 C: HELLO {"v":2,"pwdhash":null}`},

		{breach: PasswordHash, name: "right", cfg: Config{Password: "foobar"}, stream: `
			1 open
			1 S: ` + protectedHi + `
			1 C: HELLO {"v":2,"pwdhash":"` + goodHash + `"}`},
		{breach: PasswordHash, name: "in upper case", cfg: Config{Password: "foobar"}, stream: `
			1 open
			1 S: ` + protectedHi + `
			1 C: HELLO {"v":2,"pwdhash":"6D877F8E5544B1F2598768F817413AB8A357AFFFA924DEDAE99EB91472D4EC30"}`},
		{breach: PasswordHash, name: "of another password", isWrong: true, cfg: Config{Password: "foobaz"}, stream: `
			1 open
			1 S: ` + protectedHi + `
			1 C: HELLO {"v":2,"pwdhash":"` + goodHash + `"}`},
		{breach: PasswordHash, name: "other digits", isWrong: true, cfg: Config{Password: "foobar"}, stream: `
			1 open
			1 S: ` + protectedHi + `
			1 C: HELLO {"v":2,"pwdhash":"` + hexHash + `"}`},

		{breach: PasswordEscaped, name: "unescaped", cfg: Config{Password: "p@ss+ 1"}, stream: `
			1 open
			1 S: ` + protectedHi + `
			1 C: HELLO {"v":2,"pwdhash":"` + hashOfPassword("p@ss+ 1") + `"}`},
		{breach: PasswordEscaped, name: "wrong in another way", others: PasswordHash, cfg: Config{Password: "p@ss"}, stream: `
			1 open
			1 S: ` + protectedHi + `
			1 C: HELLO {"v":2,"pwdhash":"` + hashOfPassword("pass") + `"}`},
		{breach: PasswordEscaped, name: "as it is written", isWrong: true, cfg: Config{Password: "p@ss"}, stream: `
			1 open
			1 S: ` + protectedHi + `
			1 C: HELLO {"v":2,"pwdhash":"` + hashOfPassword("p%40ss") + `"}`},
		{breach: PasswordEscaped, name: "a plus for a space", isWrong: true, cfg: Config{Password: "p@+s"}, stream: `
			1 open
			1 S: ` + protectedHi + `
			1 C: HELLO {"v":2,"pwdhash":"` + hashOfPassword("p@ s") + `"}`},
	}
}

// hashOfPassword returns the hash for the greeting protected.
func hashOfPassword(password string) string {
	hash, err := fwp.PasswordHash(password, "55104dc76695721d", 1545)
	if err != nil {
		panic(err)
	}
	return hash
}
