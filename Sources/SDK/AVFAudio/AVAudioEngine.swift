import Foundation
import Synchronization
import WakeClient
import WakeWire

/// A graph of nodes that plays and records.
///
/// Source nodes render, the main mixer adds them up, and the output node plays the sum; sink nodes and taps of the input node
/// take what the microphone gives. All blocks run on one thread of the engine's own, a buffer at a time, while the bench
/// asks for it.
///
/// The corresponding iOS class also has effects and players, which are not there.
public final class AVAudioEngine: NSObject, @unchecked Sendable {
    /// The form in which the phone plays: two channels of 48 000 frames a second.
    static let hardwareFormat = AVAudioFormat(standardFormatWithSampleRate: 48_000, channels: 2)!
    /// The form in which the phone hears: one channel.
    static let microphoneFormat = AVAudioFormat(standardFormatWithSampleRate: 48_000, channels: 1)!

    private struct Edge {
        let from: AVAudioNode
        let to: AVAudioNode
        let format: AVAudioFormat?
    }

    private struct State {
        var nodes: [AVAudioNode] = []
        var edges: [Edge] = []
        var output: AVAudioOutputNode?
        var input: AVAudioInputNode?
        var mixer: AVAudioMixerNode?
        var stream: RenderThread?
    }

    private let state = Mutex(State())

    /// An engine without nodes.
    public override init() {
        super.init()
        AVAudioSession.engines.add(self)
    }

    deinit {
        stop()
    }

    // MARK: Nodes

    /// Where the engine's sound comes out; made on first use.
    public var outputNode: AVAudioOutputNode {
        adopt(\.output) { _ in AVAudioOutputNode() }
    }

    /// Where the engine hears; made on first use, and from then on the engine records.
    public var inputNode: AVAudioInputNode {
        adopt(\.input) { _ in AVAudioInputNode() }
    }

    /// Adds up all that is played; made on first use, and connected to the output.
    public var mainMixerNode: AVAudioMixerNode {
        let output = outputNode
        return adopt(\.mixer) { state in
            let node = AVAudioMixerNode()
            state.edges.append(Edge(from: node, to: output, format: nil))
            return node
        }
    }

    private func adopt<Node: AVAudioNode>(_ place: WritableKeyPath<State, Node?>, _ make: (inout State) -> Node) -> Node
    {
        let (node, isNew) = state.withLock { state in
            if let node = state[keyPath: place] { return (node, false) }
            let node = make(&state)
            state[keyPath: place] = node
            state.nodes.append(node)
            return (node, true)
        }
        if isNew { node.wiring.withLock { $0.engine = self } }
        return node
    }

    /// Makes a node a part of the engine.
    public func attach(_ node: AVAudioNode) {
        state.withLock { state in
            if !state.nodes.contains(where: { $0 === node }) { state.nodes.append(node) }
        }
        node.wiring.withLock { $0.engine = self }
    }

    /// Removes a node and its connections.
    public func detach(_ node: AVAudioNode) {
        state.withLock { state in
            state.nodes.removeAll { $0 === node }
            state.edges.removeAll { $0.from === node || $0.to === node }
        }
        node.wiring.withLock { $0.engine = nil }
        graphChanged()
    }

    /// The nodes that are attached.
    public var attachedNodes: Set<AVAudioNode> { Set(state.withLock { $0.nodes }) }

    /// Connects the output of a node to another's input. A node has one output; a mixer takes any number of inputs.
    public func connect(
        _ node1: AVAudioNode,
        to node2: AVAudioNode,
        fromBus bus1: AVAudioNodeBus = 0,
        toBus bus2: AVAudioNodeBus = 0,
        format: AVAudioFormat?
    ) {
        state.withLock { state in
            state.edges.removeAll { $0.from === node1 }
            state.edges.append(Edge(from: node1, to: node2, format: format))
        }
        graphChanged()
    }

    /// Ends the connection of a node's output.
    public func disconnectNodeOutput(_ node: AVAudioNode) {
        state.withLock { $0.edges.removeAll { $0.from === node } }
        graphChanged()
    }

    /// Ends the connections of a node's inputs.
    public func disconnectNodeInput(_ node: AVAudioNode) {
        state.withLock { $0.edges.removeAll { $0.to === node } }
        graphChanged()
    }

    // MARK: Running

    /// Does nothing: there is nothing to prepare.
    public func prepare() {}

    /// Whether the engine renders.
    public var isRunning: Bool { state.withLock { $0.stream?.isRunning ?? false } }

    /// Begins to render, and makes the session active where it is not.
    ///
    /// - Throws: An error of the domain `NSOSStatusErrorDomain` with a code of ``AVAudioSession/ErrorCode`` when the system
    ///   does not let the app play or record now.
    public func start() throws {
        if isRunning { return }
        let graph = graph()
        let plays = state.withLock { $0.output != nil }
        let records = state.withLock { $0.input != nil }
        guard plays || records else {
            throw AVAudioSession.error(.badParam, "the engine has neither an input nor an output")
        }
        let stream = try AVAudioSession.shared.startStream(plays: plays, records: records)
        stream.graph.withLock { $0 = graph }
        state.withLock { $0.stream = stream }
        stream.start()
    }

    /// Ends the rendering; ``start()`` goes on with it.
    public func pause() { stop() }

    /// Ends the rendering.
    public func stop() {
        guard let stream = state.withLock({ state in state.stream.take() }), stream.end() else {
            return
        }
        AVAudioSession.shared.stopStream()
    }

    /// Forgets what was rendered ahead: nothing ever is.
    public func reset() {}

    /// The frames of a render callback; nil when the engine does not run.
    var bufferFrames: Int? { state.withLock { $0.stream?.isRunning == true ? $0.stream?.frames : nil } }

    /// The session was interrupted, or the stream is gone: the bench has ended it.
    func wasStopped() {
        _ = state.withLock { state in state.stream.take() }?.end()
    }

    func graphChanged() {
        let graph = graph()
        let stream = state.withLock { $0.stream }
        stream?.graph.withLock { $0 = graph }
    }

    /// What the render thread does, from the nodes as they are connected now.
    private func graph() -> RenderGraph {
        let (nodes, edges, input) = state.withLock { ($0.nodes, $0.edges, $0.input) }
        var graph = RenderGraph()
        for case let source as AVAudioSourceNode in nodes {
            var mixers: [AVAudioMixerNode] = []
            var node: AVAudioNode = source
            var format = source.format
            // A graph without an end has more steps than nodes.
            for _ in 0...nodes.count {
                guard let edge = edges.first(where: { $0.from === node }) else { break }
                if node === source, format == nil { format = edge.format }
                node = edge.to
                if let mixer = node as? AVAudioMixerNode { mixers.append(mixer) }
            }
            guard node is AVAudioOutputNode else { continue }
            graph.sources.append(
                .init(node: source, mixers: mixers, format: format ?? Self.hardwareFormat)
            )
        }
        guard let input else { return graph }
        graph.tap = input.wiring.withLock { $0.tap }
        for edge in edges where edge.from === input {
            if let sink = edge.to as? AVAudioSinkNode { graph.sinks.append(sink) }
        }
        return graph
    }
}
