import BackgroundTasks
import Foundation

/// A feed that looks for news in a short task, and cleans its database in a long one.
final class Feed: Sendable {
    private static let refresh = "com.example.feedreader.refresh"
    private static let cleaning = "com.example.feedreader.cleaning"

    private let queue = DispatchQueue(label: "feed")

    /// To be called before the launch is over.
    func register() {
        let scheduler = BGTaskScheduler.shared
        let refreshes = scheduler.register(forTaskWithIdentifier: Self.refresh, using: nil) { task in
            // One request is one launch.
            self.scheduleRefresh()
            self.work(on: task, called: "refresh", seconds: 4)
        }
        let cleans = scheduler.register(forTaskWithIdentifier: Self.cleaning, using: nil) { task in
            self.work(on: task, called: "cleaning", seconds: 120)
        }
        log("register \(refreshes) \(cleans)")
    }

    func scheduleRefresh() {
        let request = BGAppRefreshTaskRequest(identifier: Self.refresh)
        request.earliestBeginDate = Date(timeIntervalSinceNow: 15 * 60)
        submit(request)
    }

    func scheduleCleaning() {
        let request = BGProcessingTaskRequest(identifier: Self.cleaning)
        request.requiresExternalPower = true
        request.requiresNetworkConnectivity = true
        submit(request)
    }

    private func submit(_ request: BGTaskRequest) {
        do {
            try BGTaskScheduler.shared.submit(request)
            log("submit \(request.identifier)")
        } catch {
            log("submit \(request.identifier) failed: \(error.localizedDescription)")
        }
    }

    private func work(on task: BGTask, called name: String, seconds: Int) {
        log("\(name) begins")
        let work = DispatchWorkItem {
            log("\(name) done")
            task.setTaskCompleted(success: true)
        }
        task.expirationHandler = {
            work.cancel()
            log("\(name) expires")
            self.scheduleCleaning()
            task.setTaskCompleted(success: false)
        }
        queue.asyncAfter(deadline: .now() + .seconds(seconds), execute: work)
    }
}
