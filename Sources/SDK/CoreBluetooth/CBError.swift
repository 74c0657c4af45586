import Foundation
import WakeClient
import WakeWire

/// The domain of ``CBError``.
public let CBErrorDomain = "CBErrorDomain"
/// The domain of ``CBATTError``.
public let CBATTErrorDomain = "CBATTErrorDomain"

/// What went wrong between the app, the system and a remote device.
public struct CBError: DomainError {
    /// The codes of Core Bluetooth's errors.
    public enum Code: Int, DomainErrorCode {
        /// The errors that have them.
        public typealias Failure = CBError

        /// No more is known.
        case unknown = 0
        /// The parameters are wrong.
        case invalidParameters = 1
        /// The attribute handle is wrong.
        case invalidHandle = 2
        /// The device is not connected.
        case notConnected = 3
        /// No space is left.
        case outOfSpace = 4
        /// The operation was cancelled.
        case operationCancelled = 5
        /// The connection timed out.
        case connectionTimeout = 6
        /// The device disconnected.
        case peripheralDisconnected = 7
        /// The UUID may not be used.
        case uuidNotAllowed = 8
        /// Advertising runs already.
        case alreadyAdvertising = 9
        /// The connection failed.
        case connectionFailed = 10
        /// There are as many connections as the phone can hold.
        case connectionLimitReached = 11
        /// The device is not known.
        case unknownDevice = 12
        /// The operation is not supported.
        case operationNotSupported = 13
        /// The device removed its pairing information.
        case peerRemovedPairingInformation = 14
        /// Encryption took too long.
        case encryptionTimedOut = 15
        /// Too many devices are paired.
        case tooManyLEPairedDevices = 16
        /// The app used more background notifications than it may.
        case leGattExceededBackgroundNotificationLimit = 17
        /// The app has nearly used its background notifications.
        case leGattNearBackgroundNotificationLimit = 18
    }

    /// The domain of these errors.
    public static var errorDomain: String {
        CBErrorDomain
    }

    /// The number of the code, also of one that ``Code`` has no name for.
    public let errorCode: Int
    /// What people read; empty for no more than the number.
    public let errorText: String

    /// What a number counts as that has no name.
    public static var namelessCode: Code {
        .unknown
    }

    /// An error with a number, which need not have a name.
    public init(errorCode: Int, errorText: String) {
        self.errorCode = errorCode
        self.errorText = errorText
    }
}

/// What a remote device answered instead of doing what it was asked.
public struct CBATTError: DomainError {
    /// The codes of the Attribute Protocol (Bluetooth Core Specification, Vol 3, Part F, 3.4.1.1).
    public enum Code: Int, DomainErrorCode {
        /// The errors that have them.
        public typealias Failure = CBATTError

        /// It worked.
        case success = 0x00
        /// The handle is not valid.
        case invalidHandle = 0x01
        /// The attribute cannot be read.
        case readNotPermitted = 0x02
        /// The attribute cannot be written.
        case writeNotPermitted = 0x03
        /// The request was not understood.
        case invalidPdu = 0x04
        /// Authentication is needed first.
        case insufficientAuthentication = 0x05
        /// The request is not supported.
        case requestNotSupported = 0x06
        /// The offset is beyond the end.
        case invalidOffset = 0x07
        /// Authorization is needed first.
        case insufficientAuthorization = 0x08
        /// Too many prepared writes wait.
        case prepareQueueFull = 0x09
        /// There is no such attribute.
        case attributeNotFound = 0x0A
        /// The attribute cannot be read in parts.
        case attributeNotLong = 0x0B
        /// The encryption key is too short.
        case insufficientEncryptionKeySize = 0x0C
        /// The value has a wrong length.
        case invalidAttributeValueLength = 0x0D
        /// Something unlikely went wrong.
        case unlikelyError = 0x0E
        /// Encryption is needed first.
        case insufficientEncryption = 0x0F
        /// The group type is not supported.
        case unsupportedGroupType = 0x10
        /// The device has not enough resources.
        case insufficientResources = 0x11
    }

    /// The domain of these errors.
    public static var errorDomain: String {
        CBATTErrorDomain
    }

    /// The number of the code, also of one that ``Code`` has no name for.
    public let errorCode: Int
    /// What people read; empty for no more than the number.
    public let errorText: String

    /// What a number counts as that has no name, such as an application's own.
    public static var namelessCode: Code {
        .unlikelyError
    }

    /// An error with a number, which need not have a name.
    public init(errorCode: Int, errorText: String) {
        self.errorCode = errorCode
        self.errorText = errorText
    }
}

/// The error that an app sees for a failure on the wire.
func appError(_ failure: WireFailure?) -> (any Error)? {
    failure?.error(orOf: CBError.self, CBATTError.self)
}
