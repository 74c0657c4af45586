import Glibc
import WakeBench
import WakeModel
import WakePorts
import WakeRouter
import WakeSystem

/// The bench under measurement: all of `wakebench run`, with the values of the belt read from descriptor 3.
final class BenchSubject: BenchObserver {
    enum Mode: String {
        /// Each sample begins with the app suspended.
        case wake
        /// The same, when the app has the library of virtual time in it.
        case virtual
        /// Each sample begins with the app ended for memory.
        case relaunch
    }

    private static let socket: Int32 = 3
    private let mode: Mode
    private let stamps: StampPage
    private let bench: WakeBench.Run
    private let radio: BenchmarkRadio
    private let origin: NameID
    private var isFirst = true

    init(folder: String, mode: Mode) throws {
        self.mode = mode
        let page = "\(folder)/\(mode.rawValue).stamps"
        stamps = try StampPage(page)
        unsafe setenv("WAKEBENCH_APP_STAMPS", page, 1)
        var options = RunOptions(scenario: "\(folder)/wake.yaml", out: "\(folder)/\(mode.rawValue)")
        options.clock = .real
        options.freezer = .cgroup2
        options.appFolders = [folder]
        var made: BenchmarkRadio?
        bench = try WakeBench.Run(options) { (radio, loop) throws(SystemError) in
            let benchmark = try BenchmarkRadio(radio, descriptor: Self.socket, loop: loop)
            made = benchmark
            return benchmark
        }
        guard let made else { throw Failure("the run took another radio") }
        radio = made
        origin = bench.names.intern("benchmark")
        radio.sampleOver = { [unowned self] in answer() }
        bench.bench.add(self)
    }

    func run() throws {
        do { try bench.execute() } catch {
            if error.code != .interrupted { throw Failure(error.message) }
        }
    }

    func observe(_ item: InboxItem, _ output: RouterOutput, at now: Instant) {
        for action in output.actions {
            switch action {
            case .moved(let app, _, .suspended):
                if mode != .relaunch {
                    radio.finishSample()
                } else {
                    bench.bench.submit(.terminate(app, .memory), origin: origin)
                }
            case .exited where mode == .relaunch: radio.finishSample()
            default: break
            }
        }
    }

    /// Says when the read returned and what the app wrote; zeros when the app is ready for the first time.
    private func answer() {
        let place = mode == .relaunch ? StampPage.Place.didFinishLaunching : .didUpdateValue
        var times = isFirst ? [0, 0] : [radio.readAt, stamps[place]]
        isFirst = false
        stamps[place] = 0
        _ = unsafe send(Self.socket, &times, 16, Int32(MSG_NOSIGNAL))
    }
}
