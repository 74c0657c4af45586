import Foundation
import Synchronization
import WakeWire

/// Fills buffers with what a source node plays.
public typealias AVAudioSourceNodeRenderBlock =
    @Sendable (
        UnsafeMutablePointer<ObjCBool>, UnsafePointer<AudioTimeStamp>, AVAudioFrameCount,
        UnsafeMutablePointer<AudioBufferList>
    ) -> OSStatus

/// Takes buffers of what a sink node hears.
public typealias AVAudioSinkNodeReceiverBlock =
    @Sendable (UnsafePointer<AudioTimeStamp>, AVAudioFrameCount, UnsafePointer<AudioBufferList>) -> OSStatus

/// Takes buffers of what goes through a node.
public typealias AVAudioNodeTapBlock = @Sendable (AVAudioPCMBuffer, AVAudioTime) -> Void

/// A part of an engine's graph.
public class AVAudioNode: NSObject, @unchecked Sendable {
    struct Wiring {
        weak var engine: AVAudioEngine?
        var tap: Tap?
    }

    struct Tap: Sendable {
        let frames: Int
        let block: AVAudioNodeTapBlock
    }

    let wiring = Mutex(Wiring())

    /// The engine that it is attached to; nil when it is attached to none.
    public var engine: AVAudioEngine? { wiring.withLock { $0.engine } }

    /// The form of what comes in.
    public func inputFormat(forBus bus: AVAudioNodeBus) -> AVAudioFormat { AVAudioEngine.hardwareFormat }

    /// The form of what goes out.
    public func outputFormat(forBus bus: AVAudioNodeBus) -> AVAudioFormat { AVAudioEngine.hardwareFormat }

    /// Gives what goes out of the node to a block, on the render thread; works on the input node.
    public func installTap(
        onBus bus: AVAudioNodeBus,
        bufferSize: AVAudioFrameCount,
        format: AVAudioFormat?,
        block tapBlock: @escaping AVAudioNodeTapBlock
    ) {
        let frames = min(max(Int(bufferSize), 256), 16_384)
        wiring.withLock { $0.tap = Tap(frames: frames, block: tapBlock) }
        engine?.graphChanged()
    }

    /// Ends what ``installTap(onBus:bufferSize:format:block:)`` began.
    public func removeTap(onBus bus: AVAudioNodeBus) {
        wiring.withLock { $0.tap = nil }
        engine?.graphChanged()
    }
}

/// Plays what a block renders.
@safe
public class AVAudioSourceNode: AVAudioNode, @unchecked Sendable {
    let block: AVAudioSourceNodeRenderBlock
    let format: AVAudioFormat?
    private let loudness = Mutex<Float>(1)

    /// A node whose block renders in the form of its connection, a buffer for each channel.
    public init(renderBlock block: @escaping AVAudioSourceNodeRenderBlock) {
        unsafe self.block = unsafe block
        format = nil
    }

    /// A node whose block renders in a form of its own, Float32.
    public init(format: AVAudioFormat, renderBlock block: @escaping AVAudioSourceNodeRenderBlock) {
        unsafe self.block = unsafe block
        self.format = format
    }

    /// From 0 to 1.
    public var volume: Float {
        get { loudness.withLock { $0 } }
        set { loudness.withLock { $0 = newValue } }
    }

    /// The form in which the block renders.
    public override func outputFormat(forBus bus: AVAudioNodeBus) -> AVAudioFormat {
        format ?? AVAudioEngine.hardwareFormat
    }
}

/// Gives what the engine hears to a block.
@safe
public class AVAudioSinkNode: AVAudioNode, @unchecked Sendable {
    let block: AVAudioSinkNodeReceiverBlock

    /// A node whose block takes what it hears.
    public init(receiverBlock block: @escaping AVAudioSinkNodeReceiverBlock) {
        unsafe self.block = unsafe block
    }
}

/// Adds up what is connected to it.
public class AVAudioMixerNode: AVAudioNode, @unchecked Sendable {
    private let loudness = Mutex<Float>(1)

    /// From 0 to 1.
    public var outputVolume: Float {
        get { loudness.withLock { $0 } }
        set { loudness.withLock { $0 = newValue } }
    }
}

/// Where an engine's sound comes out.
public class AVAudioOutputNode: AVAudioNode, @unchecked Sendable {}

/// Where an engine hears.
public class AVAudioInputNode: AVAudioNode, @unchecked Sendable {
    /// The form of what the microphone gives: one channel.
    public override func outputFormat(forBus bus: AVAudioNodeBus) -> AVAudioFormat { AVAudioEngine.microphoneFormat }

    /// The form of what the microphone gives: one channel.
    public override func inputFormat(forBus bus: AVAudioNodeBus) -> AVAudioFormat { AVAudioEngine.microphoneFormat }
}
