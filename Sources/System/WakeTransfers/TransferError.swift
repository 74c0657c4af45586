/// Why a transfer process refused something, or could not be had.
package struct TransferError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable {
        /// Neither http nor https.
        case unsupportedURL
        case badURL
        /// A method, header field or figure that cannot be carried.
        case badRequest
        /// A packet that is no command.
        case badCommand
        /// The file of an upload is missing, or is no file.
        case noFile
        /// The disk has no room for what is to be kept.
        case diskFull
        /// As many transfers as there may be.
        case tooMany
        /// There is no such transfer.
        case unknown
        /// There was one of that number, or of a higher one.
        case over
        /// It is in another state, or its bytes are not kept.
        case notNow
        /// The folder cannot be used, or is not this user's alone.
        case folder
        /// Another process has the folder, and may be about to end.
        case taken
        /// The program is missing or does not start.
        case program
        case system
    }

    package var kind: Kind
    /// One sentence without a full stop.
    package var message: String

    package init(_ kind: Kind, _ message: String) {
        (self.kind, self.message) = (kind, message)
    }

    package var description: String { message }
}

/// Codes of URLError, as Foundation has them, with which transfers fail.
package enum TransferFailure: Int, Sendable {
    case unknown = -1
    case cancelled = -999
    case badURL = -1000
    case timedOut = -1001
    case unsupportedURL = -1002
    case cannotFindHost = -1003
    case cannotConnectToHost = -1004
    case networkConnectionLost = -1005
    case httpTooManyRedirects = -1007
    case badServerResponse = -1011
    case fileDoesNotExist = -1100
    case secureConnectionFailed = -1200
    case serverCertificateUntrusted = -1202
    case cannotWriteToFile = -3003
}
