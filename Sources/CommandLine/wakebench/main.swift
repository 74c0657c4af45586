import Glibc
import WakeBench

var options = RunOptions(scenario: CommandLine.arguments[1], out: "/tmp/x")
do {
    let run = try Run(options)
    try run.execute()
    print(run.driver.failure ?? "ok", run.bench.now, run.bench.sequence, run.bench.lastEvent)
    for judgement in run.driver.judgements { print(judgement) }
} catch {
    print(error)
    exit(error.code.rawValue)
}
