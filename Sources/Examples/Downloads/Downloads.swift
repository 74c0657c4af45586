import Foundation
import UIKit

/// A background session, what it carries, and what becomes of that. All of it is on the main queue.
///
/// `DOWNLOAD_URL` and `UPLOAD_URL` in the environment name other places, `UPLOAD_FILE` another file; an empty URL is nothing to do.
@MainActor
final class Downloads: NSObject, URLSessionDownloadDelegate {
    /// What the system wants to hear once all events of the session were handled.
    var completionHandler: (() -> Void)?
    private var session: URLSession?
    private nonisolated var support: URL {
        FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
    }

    func begin() {
        let configuration = URLSessionConfiguration.background(withIdentifier: "com.example.downloads.episodes")
        configuration.sessionSendsLaunchEvents = true
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: .main)
        self.session = session
        session.getAllTasks { tasks in
            log("tasks \(tasks.count)")
            // An earlier process may have ended between making a task and resuming it.
            for task in tasks where task.state == .suspended { task.resume() }
            MainActor.assumeIsolated { self.start(in: session) }
        }
    }

    /// Asks for the transfers in the first process of the app, and for none of them again.
    private func start(in session: URLSession) {
        let mark = support.appending(path: "begun")
        guard !FileManager.default.fileExists(atPath: mark.path) else { return }
        do {
            try FileManager.default.createDirectory(at: support, withIntermediateDirectories: true)
            try Data().write(to: mark)
            let heard = support.appending(path: "heard.txt")
            try Data("episode 1\n".utf8).write(to: heard)
            if let url = place("DOWNLOAD_URL", "https://podcasts.example.com/episodes/3.mp3") {
                let download = session.downloadTask(with: url)
                download.countOfBytesClientExpectsToSend = 200
                download.countOfBytesClientExpectsToReceive = 10_000_000
                download.resume()
                log("download \(download.taskIdentifier)")
            }
            if let url = place("UPLOAD_URL", "https://podcasts.example.com/recordings") {
                var request = URLRequest(url: url)
                request.httpMethod = "PUT"
                let file = ProcessInfo.processInfo.environment["UPLOAD_FILE"].map { URL(fileURLWithPath: $0) } ?? heard
                let upload = session.uploadTask(with: request, fromFile: file)
                upload.resume()
                log("upload \(upload.taskIdentifier)")
            }
        } catch {
            log("cannot begin: \(error)")
        }
    }

    private func place(_ name: String, _ usual: String) -> URL? {
        URL(string: ProcessInfo.processInfo.environment[name] ?? usual)
    }

    // MARK: What becomes of it

    nonisolated func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        let target = support.appending(path: "episode")
        do {
            if FileManager.default.fileExists(atPath: target.path) { try FileManager.default.removeItem(at: target) }
            try FileManager.default.moveItem(at: location, to: target)
            let size = try FileManager.default.attributesOfItem(atPath: target.path)[.size] as? Int ?? 0
            log("didFinishDownloading \(downloadTask.taskIdentifier) \(size) bytes")
        } catch {
            log("cannot keep \(location.path): \(error)")
        }
    }

    nonisolated func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        log("didWriteData \(totalBytesWritten) of \(totalBytesExpectedToWrite)")
    }

    nonisolated func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        log("didSendBodyData \(totalBytesSent) of \(totalBytesExpectedToSend)")
    }

    nonisolated func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        log("didReceive challenge \(challenge.protectionSpace.realm ?? "") \(challenge.previousFailureCount)")
        guard challenge.previousFailureCount == 0 else { return completionHandler(.cancelAuthenticationChallenge, nil) }
        completionHandler(.useCredential, URLCredential(user: "anna", password: "secret", persistence: .none))
    }

    nonisolated func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let url = task.currentRequest?.url, url != task.originalRequest?.url { log("redirected to \(url)") }
        let status = (task.response as? HTTPURLResponse)?.statusCode ?? 0
        let code = (error as? URLError)?.code.rawValue ?? 0
        log("didComplete \(task.taskIdentifier) status=\(status) error=\(code)")
        if let left = (error as? URLError)?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data {
            session.downloadTask(withResumeData: left).resume()
        }
    }

    nonisolated func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        log("didFinishEvents")
        MainActor.assumeIsolated {
            completionHandler?()
            completionHandler = nil
        }
    }
}
