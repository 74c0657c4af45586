import Foundation
@_weakLinked import FoundationNetworking

/// What a session tells of itself. It stands in the place of Foundation's, which knows no background sessions.
///
/// A file that imports FoundationNetworking itself has two of that name; UIKit brings all of that module along.
public protocol URLSessionDelegate: FoundationNetworking.URLSessionDelegate {
    /// All that a background session had for the app was told: now the completion handler of
    /// `application(_:handleEventsForBackgroundURLSession:completionHandler:)` may be called (XFER-2, XFER-10).
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)
}

extension URLSessionDelegate {
    /// Does nothing.
    public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {}
}

/// What a session tells of its tasks.
public protocol URLSessionTaskDelegate: URLSessionDelegate, FoundationNetworking.URLSessionTaskDelegate {
    /// There is no way to the server, and the phone tries on.
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)
}

extension URLSessionTaskDelegate {
    /// Does nothing.
    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {}
}

/// What a session tells of tasks that bring data.
public protocol URLSessionDataDelegate: URLSessionTaskDelegate, FoundationNetworking.URLSessionDataDelegate {}

/// What a session tells of downloads.
public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate, FoundationNetworking.URLSessionDownloadDelegate {}
