import OSLog
import os.log
import os.signpost

let log = OSLog(subsystem: "com.example.outside", category: "forms")

/// Marks of a trace, in the older way and in the newer one.
func mark() {
    let id = OSSignpostID(log: log)
    os_signpost(.begin, log: log, name: "load", signpostID: id, "%d of %{public}@", 1, "two")
    os_signpost(.end, log: log, name: "load", signpostID: id)
    let signposter = OSSignposter(logger: Logger(subsystem: "com.example.outside", category: "forms"))
    let state = signposter.beginInterval("save", id: signposter.makeSignpostID(), "to \("disk", privacy: .public)")
    signposter.emitEvent("half")
    signposter.endInterval("save", state)
    precondition(signposter.withIntervalSignpost("count") { 3 } == 3)
}

func say() {
    os_log("%{public}@ of %d", log: log, type: .info, "one", 2)
    Logger(subsystem: "com.example.outside", category: "forms").notice("three")
}
