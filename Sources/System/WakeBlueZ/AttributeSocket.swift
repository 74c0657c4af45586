import CWakeShims
import Glibc
import WakeSystem

/// The kernel's channel of the Attribute Protocol to a peripheral, past bluetoothd, which knows of the link and leaves it alone.
package enum AttributeSocket {
    /// Begins to connect; when the socket is writable, ``failure(of:)`` says how it came out.
    ///
    /// - Parameter adapter: the own address of the adapter.
    /// - Returns: a non-blocking socket of whole packets, which is the caller's.
    /// - Throws: ``SystemError`` when the kernel refuses at once.
    package static func connect(to device: BlueZDeviceID, adapter: String) throws(SystemError) -> Int32 {
        guard var own = end(adapter, isRandom: false, psm: 0),
            var other = end(device.address, isRandom: device.isRandom, psm: 0)
        else { throw SystemError("connect", code: EINVAL, subject: device.address) }
        let number = unsafe wake_attribute_connect(&own, &other)
        guard number >= 0 else { throw SystemError(last: "connect", subject: device.address) }
        return number
    }

    /// Why a socket could not connect; nil when it did.
    package static func failure(of number: Int32, to device: BlueZDeviceID) -> SystemError? {
        let code = wake_socket_error(number)
        return code == 0 ? nil : SystemError("connect", code: code, subject: device.address)
    }
}

extension BlueZAdapter {
    /// Whether bluetoothd knows of a link to a device, whoever made it.
    package func isConnected(_ device: BlueZDeviceID) -> Bool {
        facts(of: device)?["Connected"]?.bool == true
    }

    private func facts(of device: BlueZDeviceID) -> BlueZObjects.Properties? {
        path(of: device).flatMap { objects.properties($0, BlueZName.device) }
    }
}
