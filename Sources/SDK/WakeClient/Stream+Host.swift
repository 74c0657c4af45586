import Foundation

extension Stream {
    /// Two streams over a TCP connection to a host; it is made when they are opened, at the latest.
    ///
    /// A connection that cannot be had is an error of both streams once they are open.
    public static func getStreamsToHost(
        withName hostname: String,
        port: Int,
        inputStream: inout InputStream?,
        outputStream: inout OutputStream?
    ) {
        let (connection, descriptor) = StreamConnection.begin(host: hostname, port: port)
        let pair = DescriptorStreams.pair(over: descriptor, connection)
        inputStream = pair?.input
        outputStream = pair?.output
    }

    /// Sets the network service type: with ``StreamNetworkServiceTypeValue/voIP`` the phone looks after the connection
    /// while the app is suspended.
    ///
    /// - Returns: whether it was set.
    @discardableResult
    public func setProperty(_ property: StreamNetworkServiceTypeValue, forKey key: PropertyKey) -> Bool {
        setProperty(NSString(string: property.rawValue), forKey: key)
    }
}

// MARK: Core Foundation's names for the same

/// An input stream, as Core Foundation calls it.
public typealias CFReadStream = InputStream
/// An output stream, as Core Foundation calls it.
public typealias CFWriteStream = OutputStream
/// Text, as Core Foundation calls it.
public typealias CFString = String
/// The key of a stream's property, as Core Foundation calls it.
public typealias CFStreamPropertyKey = Stream.PropertyKey

/// The key of a stream's network service type.
public let kCFStreamNetworkServiceType: CFString = Stream.PropertyKey.networkServiceType.rawValue
/// The network service type of calls.
public let kCFStreamNetworkServiceTypeVoIP: CFString = StreamNetworkServiceTypeValue.voIP.rawValue

/// Two streams over a TCP connection to a host, for the caller to release.
///
/// - Parameter allocator: Nil; there is no other allocator on this phone.
public func CFStreamCreatePairWithSocketToHost(
    _ allocator: AnyObject?,
    _ host: CFString,
    _ port: UInt32,
    _ readStream: inout Unmanaged<CFReadStream>?,
    _ writeStream: inout Unmanaged<CFWriteStream>?
) {
    var input: InputStream?
    var output: OutputStream?
    Stream.getStreamsToHost(withName: host, port: Int(port), inputStream: &input, outputStream: &output)
    unsafe readStream = unsafe input.map { unsafe Unmanaged.passRetained($0) }
    unsafe writeStream = unsafe output.map { unsafe Unmanaged.passRetained($0) }
}

/// Sets a property of an input stream.
@discardableResult
public func CFReadStreamSetProperty(_ stream: CFReadStream, _ key: CFStreamPropertyKey, _ value: CFString) -> Bool {
    stream.setProperty(NSString(string: value), forKey: key)
}

/// Sets a property of an output stream.
@discardableResult
public func CFWriteStreamSetProperty(_ stream: CFWriteStream, _ key: CFStreamPropertyKey, _ value: CFString) -> Bool {
    stream.setProperty(NSString(string: value), forKey: key)
}
