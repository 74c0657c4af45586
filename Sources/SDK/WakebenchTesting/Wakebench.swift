import Foundation

/// Plays scenarios on a bench that a test starts, and says what was decided: for unit tests of apps, under Swift Testing and
/// XCTest.
///
/// ```swift
/// @Test func theBeltWakesTheApp() async throws {
///     let run = try await Wakebench.run(.file("scenario.yaml"), apps: [.program("Pulse")])
///     #expect(try run.count(app: "app", verdict: .resume) >= 1)
/// }
/// ```
///
/// The bench is the program `wakebench`: the one that the variable WAKEBENCH names, else the one beside the tests, where a
/// test target with the products `wakebench` and `WakebenchTime` among its dependencies has it, else the first on PATH, else
/// that in the `.build` of the folder that this package is taken from. It is a child of the test's process and ends with it,
/// as its apps do. At most as many runs go on at once as there are processors; others wait.
public enum Wakebench {
    /// What is played. A relative path is below the working directory, which is the package's folder under `swift test`.
    public enum Scenario: Hashable, Sendable {
        /// The path of a scenario file.
        case file(String)
        /// The text of a scenario. Files that it names are looked for in the working directory.
        case text(String)
    }

    /// An app that a scenario names as `bundle: Name.app`. Those given here go before others of that name.
    public enum App: Hashable, Sendable {
        /// The path of a folder `Name.app`.
        case bundle(String)
        /// An executable and its Info.plist, of which a bundle is made as by `wakebench app bundle`.
        ///
        /// A name without a slash is that of a product of the package, beside the tests; anything else is a path.
        case program(String, info: String = "Info.plist")
    }

    /// How time goes on in a run.
    public enum Clock: String, Sendable {
        /// It leaps to what happens next.
        case virtual
        /// It is the machine's.
        case real
    }

    /// Plays a scenario to its end.
    ///
    /// - Parameters:
    ///   - apps: the real apps of the scenario; it plays `scripted:` ones itself.
    ///   - profile: the OS generation, such as `ios17`, in place of the scenario's.
    ///   - seed: the seed of everything random, in place of the scenario's.
    ///   - clock: nil for virtual time, unless the scenario has a real device.
    ///   - settings: switches and figures of the profile by their names, such as `["bluetoothWindow": "5s"]`.
    ///   - options: further words of `wakebench run`.
    ///   - folder: where the run is to be kept, in place of one that is there. Without it the run goes to a temporary
    ///     folder, which stays only when the run throws ``Failure/scenarioFailed(_:)``, or the test's process is killed.
    ///   - allowsFailure: whether a run in which an expectation was not met, a step waited in vain, or an app could not be
    ///     launched, is returned as well.
    /// - Throws: ``Failure``; `CancellationError` when the task was cancelled, which ends the bench.
    public static func run(
        _ scenario: Scenario,
        apps: [App] = [],
        profile: String? = nil,
        seed: UInt64? = nil,
        clock: Clock? = nil,
        settings: [String: String] = [:],
        options: [String] = [],
        folder: String? = nil,
        allowsFailure: Bool = false
    ) async throws -> Run {
        let words = Self.words(profile: profile, seed: seed, clock: clock, settings: settings) + options
        let play = Play(scenario: scenario, apps: apps, words: words, folder: folder, allowsFailure: allowsFailure)
        let child = Child()
        do {
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    // A bench ends with the thread that started it, and those of tasks come and go.
                    Thread { continuation.resume(with: Result { try play.carryOut(on: child) }) }.start()
                }
            } onCancel: {
                child.cancel()
            }
        } catch {
            throw child.isCancelled ? CancellationError() : error
        }
    }

    /// The same for a test that is not asynchronous: the calling thread waits.
    ///
    /// - Throws: ``Failure``.
    public static func run(
        _ scenario: Scenario,
        apps: [App] = [],
        profile: String? = nil,
        seed: UInt64? = nil,
        clock: Clock? = nil,
        settings: [String: String] = [:],
        options: [String] = [],
        folder: String? = nil,
        allowsFailure: Bool = false
    ) throws(Failure) -> Run {
        let words = Self.words(profile: profile, seed: seed, clock: clock, settings: settings) + options
        let play = Play(scenario: scenario, apps: apps, words: words, folder: folder, allowsFailure: allowsFailure)
        return try play.carryOut(on: Child())
    }

    private static func words(
        profile: String?,
        seed: UInt64?,
        clock: Clock?,
        settings: [String: String]
    ) -> [String] {
        var words: [String] = []
        if let profile { words += ["--profile", profile] }
        if let seed { words += ["--seed", "\(seed)"] }
        if let clock { words += ["--clock", clock.rawValue] }
        for (name, value) in settings.sorted(by: { $0.key < $1.key }) { words += ["--set", "\(name)=\(value)"] }
        return words
    }
}
