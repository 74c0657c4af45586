import WakeModel
import WakePorts
import WakeWire

/// What the host of real apps must know of the rest of the bench.
protocol ProcessAppSurroundings: AnyObject {
    /// Seconds left in the background; nil in the foreground (TASK-5).
    func backgroundSecondsRemaining(of app: AppID) -> Double?
    /// Whether the app's manager holds a link that is up, a pending one, or none.
    func linkState(of app: AppID, manager: ManagerNumber, to peripheral: NameID) -> WireLinkState
    /// Whether the router waits for the app to be frozen.
    func isFreezing(_ app: AppID) -> Bool
    /// What a fresh location manager of the app is told.
    func locationFacts(of app: AppID) -> LocationFacts
    /// How sound stands for an app.
    func audioFacts(of app: AppID) -> AudioFacts
    /// The ends of an app's stream; nil when it has none.
    func stream(of app: AppID) -> SharedAudio?
    /// The accessories that the app may see now.
    func accessories(of app: AppID) -> [Accessory]
    /// The wall clock for packets that carry a time, in seconds since 1970.
    var wallSeconds: Double { get }
    var radio: any BluetoothCentralPort { get }
    /// The watch over VoIP sockets.
    var voip: any VoIPPort { get }
    /// Whether a task that the app begins now would have time (TASK-7).
    func grantsTask(of app: AppID) -> Bool
    /// Whether a keep-alive handler with this period will be called (VOIP-3).
    func grantsKeepAlive(of app: AppID, period: Instant.Span) -> Bool
    /// How many bytes an update to a central may have.
    func maximumUpdateLength(of central: NameID) -> UInt16
    /// How many updates the peripheral end takes of a manager, and in which turn of the bench that is asked.
    func updateRoom(of app: AppID, manager: ManagerNumber) -> (room: Int, turn: UInt64)
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
}
