import OSLog
import os.log
import os.signpost

let log = OSLog(subsystem: "com.example.outside", category: "forms")

func say() {
    os_log("%{public}@ of %d", log: log, type: .info, "one", 2)
    Logger(subsystem: "com.example.outside", category: "forms").notice("three")
}
