/// The codes by their names on the error, as in `CBError.invalidParameters`.
extension CBError {
    /// No more is known.
    public static var unknown: Code { .unknown }
    /// The parameters are wrong.
    public static var invalidParameters: Code { .invalidParameters }
    /// The attribute handle is wrong.
    public static var invalidHandle: Code { .invalidHandle }
    /// The device is not connected.
    public static var notConnected: Code { .notConnected }
    /// No space is left.
    public static var outOfSpace: Code { .outOfSpace }
    /// The operation was cancelled.
    public static var operationCancelled: Code { .operationCancelled }
    /// The connection timed out.
    public static var connectionTimeout: Code { .connectionTimeout }
    /// The device disconnected.
    public static var peripheralDisconnected: Code { .peripheralDisconnected }
    /// The UUID may not be used.
    public static var uuidNotAllowed: Code { .uuidNotAllowed }
    /// Advertising runs already.
    public static var alreadyAdvertising: Code { .alreadyAdvertising }
    /// The connection failed.
    public static var connectionFailed: Code { .connectionFailed }
    /// There are as many connections as the phone can hold.
    public static var connectionLimitReached: Code { .connectionLimitReached }
    /// The device is not known.
    public static var unknownDevice: Code { .unknownDevice }
    /// The operation is not supported.
    public static var operationNotSupported: Code { .operationNotSupported }
    /// The device removed its pairing information.
    public static var peerRemovedPairingInformation: Code { .peerRemovedPairingInformation }
    /// Encryption took too long.
    public static var encryptionTimedOut: Code { .encryptionTimedOut }
    /// Too many devices are paired.
    public static var tooManyLEPairedDevices: Code { .tooManyLEPairedDevices }
    /// The app used more background notifications than it may.
    public static var leGattExceededBackgroundNotificationLimit: Code { .leGattExceededBackgroundNotificationLimit }
    /// The app has nearly used its background notifications.
    public static var leGattNearBackgroundNotificationLimit: Code { .leGattNearBackgroundNotificationLimit }
}

/// The codes by their names on the error, as in `CBATTError.invalidHandle`.
extension CBATTError {
    /// It worked.
    public static var success: Code { .success }
    /// The handle is not valid.
    public static var invalidHandle: Code { .invalidHandle }
    /// The attribute cannot be read.
    public static var readNotPermitted: Code { .readNotPermitted }
    /// The attribute cannot be written.
    public static var writeNotPermitted: Code { .writeNotPermitted }
    /// The request was not understood.
    public static var invalidPdu: Code { .invalidPdu }
    /// Authentication is needed first.
    public static var insufficientAuthentication: Code { .insufficientAuthentication }
    /// The request is not supported.
    public static var requestNotSupported: Code { .requestNotSupported }
    /// The offset is beyond the end.
    public static var invalidOffset: Code { .invalidOffset }
    /// Authorization is needed first.
    public static var insufficientAuthorization: Code { .insufficientAuthorization }
    /// Too many prepared writes wait.
    public static var prepareQueueFull: Code { .prepareQueueFull }
    /// There is no such attribute.
    public static var attributeNotFound: Code { .attributeNotFound }
    /// The attribute cannot be read in parts.
    public static var attributeNotLong: Code { .attributeNotLong }
    /// The encryption key is too short.
    public static var insufficientEncryptionKeySize: Code { .insufficientEncryptionKeySize }
    /// The value has a wrong length.
    public static var invalidAttributeValueLength: Code { .invalidAttributeValueLength }
    /// Something unlikely went wrong.
    public static var unlikelyError: Code { .unlikelyError }
    /// Encryption is needed first.
    public static var insufficientEncryption: Code { .insufficientEncryption }
    /// The group type is not supported.
    public static var unsupportedGroupType: Code { .unsupportedGroupType }
    /// The device has not enough resources.
    public static var insufficientResources: Code { .insufficientResources }
}
