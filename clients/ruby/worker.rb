# The job types that `fwpcheck worker` hands out, for faktory_worker_ruby; see docs/judging-workers.md.
#
#   fwpcheck worker -- bundle exec faktory-worker -r ./worker.rb -c {concurrency} -q fwp-high -q fwp-low

require "json"
require "faktory/processor"

class FwpOk
  include Faktory::Job
  def perform(*) = nil
end

class FwpFail
  include Faktory::Job
  def perform(message = "fwp.fail") = raise(message)
end

class FwpSleep
  include Faktory::Job
  def perform(seconds) = sleep(seconds)
end

class FwpEcho
  include Faktory::Job
  def perform(*args) = raise(JSON.generate(args))
end

class FwpCrash
  include Faktory::Job
  def perform = exit!(1)
end

class FwpExit
  include Faktory::Job
  def perform = exit(1)
end

class FwpBlock
  include Faktory::Job
  def perform(seconds)
    finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
    nil while Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish
  end
end

class FwpPush
  include Faktory::Job
  def perform(*jobs)
    jobs.each_slice(8) do |some|
      some.map { |job| Thread.new { Faktory.server { |client| client.push(job) } } }.each(&:join)
    end
  end
end

# A job type is the name of a class here, which has no dot: so those of fwpcheck are looked up.
class Faktory::Processor
  TYPES = {
    "fwp.ok" => FwpOk, "fwp.fail" => FwpFail, "fwp.sleep" => FwpSleep, "fwp.echo" => FwpEcho,
    "fwp.crash" => FwpCrash, "fwp.exit" => FwpExit, "fwp.block" => FwpBlock,
    "fwp.push" => FwpPush
  }
  private def constantize(type) = TYPES[type] || Object.const_get(type)
end
