import WakeModel
import WakePorts
import WakeWire

/// What the host of real apps must know of the rest of the bench.
protocol ProcessAppSurroundings: AnyObject {
    /// What its apps may learn.
    var view: AppView { get }
    /// The wall clock for packets that carry a time, in seconds since 1970.
    var wallSeconds: Double { get }
    /// What happened to a real app, for the outcomes.
    func note(_ fact: ProcessFact, of app: AppID)
    /// What a real app marked for the trace.
    func note(_ signpost: WireSignpost, of app: AppID)
}

/// What happened to a real app, in the world rather than on the desk.
enum ProcessFact {
    case started(pid: Int32)
    /// The first word of a fresh process, after that much wall time.
    case greeted(spawn: Instant.Span)
    case sent(callback: String, value: [UInt8]?, DecisionID)
    case answered(DecisionID)
    case fault(String)
    /// What was seen of what it holds, in words.
    case held(String)
    /// What became of a process beside the app's own, in words.
    case beside(String)
    /// What all its processes have used since that was told last: processor time, and the memory that they have now, in bytes;
    /// nil where none is left.
    case used(pid: Int32, processor: Instant.Span, footprint: Int64?)
}
