import UIKit

final class Transferrer: NSObject, URLSessionDownloadDelegate, @unchecked Sendable {
    static let shared = Transferrer()
    private var completionHandlers: [String: () -> Void] = [:]

    private lazy var urlSession: URLSession = {
        let config = URLSessionConfiguration.background(withIdentifier: "MySession")
        config.isDiscretionary = true
        config.sessionSendsLaunchEvents = true
        config.timeoutIntervalForRequest = 30
        config.timeoutIntervalForResource = 3_600
        config.allowsCellularAccess = false
        return URLSession(configuration: config, delegate: self, delegateQueue: nil)
    }()

    func begin(_ url: URL, from file: URL) {
        let backgroundTask = urlSession.downloadTask(with: url)
        backgroundTask.earliestBeginDate = Date().addingTimeInterval(60 * 60)
        backgroundTask.countOfBytesClientExpectsToSend = 200
        backgroundTask.countOfBytesClientExpectsToReceive = 500 * 1024
        backgroundTask.resume()
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        urlSession.uploadTask(with: request, fromFile: file).resume()
        urlSession.getAllTasks { tasks in tasks.forEach { $0.cancel() } }
        urlSession.getTasksWithCompletionHandler { _, uploads, downloads in
            print(uploads.count, downloads.map(\.taskIdentifier))
        }
        urlSession.finishTasksAndInvalidate()
    }

    func pause(_ download: URLSessionDownloadTask) {
        download.cancel(byProducingResumeData: { data in
            guard let data else { return }
            self.urlSession.downloadTask(withResumeData: data).resume()
        })
    }

    func pauseLater(_ download: URLSessionDownloadTask) async {
        if let data = await download.cancelByProducingResumeData() {
            urlSession.downloadTask(withResumeData: data).resume()
        }
    }

    func keep(_ handler: @escaping () -> Void, of identifier: String) { completionHandlers[identifier] = handler }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        guard let response = downloadTask.response as? HTTPURLResponse, (200...299).contains(response.statusCode) else {
            return
        }
        print(downloadTask.originalRequest?.url ?? location)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        if let error = error as? URLError, error.code == .cancelled {
            print(error.userInfo[NSURLErrorBackgroundTaskCancelledReasonKey] ?? "by the app")
            print(error.userInfo[NSURLSessionDownloadTaskResumeData] is Data)
        }
    }

    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {}

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        DispatchQueue.main.async {
            guard let identifier = session.configuration.identifier else { return }
            self.completionHandlers.removeValue(forKey: identifier)?()
        }
    }

    /// A session of another configuration is Foundation's own.
    func foreground(_ url: URL) {
        URLSession.shared.dataTask(with: url) { data, _, _ in print(data?.count ?? 0) }.resume()
        let session = URLSession(configuration: .default, delegate: self, delegateQueue: nil)
        session.downloadTask(with: url).resume()
    }
}

final class TransferDelegate: UIResponder, UIApplicationDelegate {
    func application(
        _ application: UIApplication,
        handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void
    ) {
        Transferrer.shared.keep(completionHandler, of: identifier)
    }
}
