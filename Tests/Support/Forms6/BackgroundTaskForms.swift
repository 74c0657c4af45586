import BackgroundTasks
import BackgroundTasks.BGTaskScheduler
import UIKit

@MainActor
final class Refresher {
    private let identifiers = ["com.example.refresh", "com.example.clean"]

    func register() {
        BGTaskScheduler.shared.register(forTaskWithIdentifier: identifiers[0], using: nil) { task in
            Refresher.handle(task as! BGAppRefreshTask)
        }
        let cleans = BGTaskScheduler.shared.register(forTaskWithIdentifier: identifiers[1], using: .main) { task in
            guard let task = task as? BGProcessingTask else { return }
            task.expirationHandler = { task.setTaskCompleted(success: false) }
            task.setTaskCompleted(success: true)
        }
        print(cleans)
    }

    nonisolated private static func handle(_ task: BGAppRefreshTask) {
        let work = Task {
            try? await Task.sleep(nanoseconds: 1)
            task.setTaskCompleted(success: !Task.isCancelled)
        }
        task.expirationHandler = { work.cancel() }
    }

    func schedule() {
        let refresh = BGAppRefreshTaskRequest(identifier: identifiers[0])
        refresh.earliestBeginDate = Date(timeIntervalSinceNow: 15 * 60)
        let clean = BGProcessingTaskRequest(identifier: identifiers[1])
        clean.requiresExternalPower = true
        clean.requiresNetworkConnectivity = true
        do {
            for request in [refresh, clean] as [BGTaskRequest] { try BGTaskScheduler.shared.submit(request) }
        } catch BGTaskScheduler.Error.notPermitted {
            print("not permitted")
        } catch let error as BGTaskScheduler.Error where error.code == .tooManyPendingTaskRequests {
            print("too many")
        } catch {
            print("\((error as NSError).code == BGTaskScheduler.Error.Code.unavailable.rawValue)")
        }
    }

    func pending() async {
        BGTaskScheduler.shared.getPendingTaskRequests { requests in print(requests.map(\.identifier)) }
        for request in await BGTaskScheduler.shared.pendingTaskRequests() {
            BGTaskScheduler.shared.cancel(taskRequestWithIdentifier: request.identifier)
        }
        BGTaskScheduler.shared.cancelAllTaskRequests()
        let status = UIApplication.shared.backgroundRefreshStatus
        guard status == .available else { return }
        UIApplication.shared.setMinimumBackgroundFetchInterval(UIApplication.backgroundFetchIntervalMinimum)
    }
}
