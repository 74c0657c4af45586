import Foundation
@_weakLinked import FoundationNetworking

/// What an app keeps of a download to go on with it: what was asked for, and by what the phone knows the bytes that there are.
struct ResumeData: Codable {
    let url: URL
    let fields: [String: String]
    let bytes: UInt64

    /// Nil without a URL.
    init?(_ bytes: UInt64, of request: URLRequest?) {
        guard let request, let url = request.url else { return nil }
        (self.url, self.bytes) = (url, bytes)
        fields = request.allHTTPHeaderFields ?? [:]
    }

    /// Nil for what is no resume data of a background session.
    init?(_ data: Data) {
        guard let read = try? PropertyListDecoder().decode(ResumeData.self, from: data) else { return nil }
        self = read
    }

    var data: Data? {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return try? encoder.encode(self)
    }

    var request: URLRequest {
        var request = URLRequest(url: url)
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }
}

/// Where the error of a download has what another one may go on from: `Data`, for `downloadTask(withResumeData:)`.
public let NSURLSessionDownloadTaskResumeData = "NSURLSessionDownloadTaskResumeData"

extension URLError {
    /// What another download may go on from; nil where nothing is kept.
    public var downloadTaskResumeData: Data? { userInfo[NSURLSessionDownloadTaskResumeData] as? Data }
}

extension URLSessionDownloadTask {
    /// Cancels the download.
    ///
    /// - Returns: what `downloadTask(withResumeData:)` goes on from; nil where there is nothing, or the server gives no parts (XFER-9).
    public func cancelByProducingResumeData() async -> Data? {
        await withCheckedContinuation { continuation in
            cancel(byProducingResumeData: { continuation.resume(returning: $0) })
        }
    }
}
