import Foundation
import WakeClient
import WakeWire

/// The number that centrals open a channel by.
public typealias CBL2CAPPSM = UInt16

/// The UUID of the characteristic that a peripheral publishes a channel's PSM in.
public let CBUUIDL2CAPPSMCharacteristicString = "ABDD3056-28FA-441D-A470-55A75A52553A"

/// A connection-oriented channel to another device.
///
/// Its streams are to be opened by the app, and give events on the run loops they are scheduled in. An app that drops the
/// channel and both streams closes it.
open class CBL2CAPChannel: NSObject {
    /// The device at the other end: a ``CBPeripheral`` or a ``CBCentral``.
    open private(set) var peer: CBPeer!
    /// The PSM that the channel was opened by.
    open private(set) var psm: CBL2CAPPSM
    private let streams: (input: DescriptorInputStream, output: DescriptorOutputStream)

    /// A channel over a connected socket; nil when that was taken before, or no descriptor is left for its second stream.
    init?(_ descriptor: ReceivedDescriptor, peer: CBPeer, psm: CBL2CAPPSM) {
        guard let number = descriptor.take(), let streams = DescriptorStreams.pair(over: number) else {
            return nil
        }
        self.peer = peer
        self.psm = psm
        self.streams = streams
        super.init()
    }

    /// What comes from the other device.
    open var inputStream: InputStream! {
        streams.input
    }

    /// What goes to the other device.
    open var outputStream: OutputStream! {
        streams.output
    }
}

extension WireFailure {
    /// The bench said that a channel is open, and no descriptor came or none is left.
    static let lostChannel = WireFailure(
        domain: CBErrorDomain,
        code: CBError.Code.outOfSpace.rawValue,
        message: "The channel came without a socket."
    )
}
