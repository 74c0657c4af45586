import Testing
import WakeModel

@testable import WakeDevices

@Suite("Location in scripted apps")
struct ScriptedLocationTests {
    private func use(_ text: String, modes: [BackgroundMode] = []) throws(FileError) -> ScriptedApp.LocationUse {
        let node = try YAMLReader.read(Array(text.utf8), file: "/places.yaml")
        return try ScriptedApp.LocationUse(node, modes: BackgroundModes(modes))
    }

    @Test("A use of location reads its regions, beacons and services")
    func everything() throws {
        let use = try use(
            """
            authorization: when-in-use
            updates: true
            distance-filter: 50m
            significant: true
            visits: true
            background-session: true
            regions:
              - {identifier: home, latitude: 48.1, longitude: 11.5, radius: 150m, notify-on-exit: false}
            beacons:
              - {identifier: shop, uuid: f7826da6-4fa2-4e98-8024-bc5b71e0893e, major: 7, range: true}
            """,
            modes: [.location]
        )
        #expect(use.authorization == .whenInUse)
        #expect(use.updates && use.significant && use.visits && use.holdsSession)
        #expect(use.distanceFilter == 50)
        #expect(use.allowsBackground)
        #expect(use.pausesAutomatically)
        #expect(use.regions.map(\.radius) == [150])
        #expect(use.regions.map(\.notifyOnExit) == [false])
        #expect(use.beacons.map(\.uuid) == ["F7826DA6-4FA2-4E98-8024-BC5B71E0893E"])
        #expect(use.beacons.map(\.major) == [7])
        #expect(use.beacons.map(\.ranges) == [true])
    }

    @Test("An empty use asks for Always and for nothing else, and without the mode not for the background")
    func defaults() throws {
        let use = try use("{updates: true}")
        #expect(use.authorization == .always)
        #expect(!use.allowsBackground)
        #expect(use.regions.isEmpty && use.beacons.isEmpty && !use.significant && !use.visits && !use.holdsSession)
    }

    @Test(
        "A use that makes no sense is refused with the line",
        arguments: [
            (
                "{regions: [{identifier: home, latitude: 91, longitude: 0, radius: 5m}]}",
                "1: '91'; expected a latitude in degrees from -90 to 90"
            ),
            (
                "{regions: [{identifier: home, latitude: 1, longitude: 0}]}",
                "1: a region without 'radius'; expected 'radius'"
            ),
            (
                "{regions: [{identifier: home, latitude: 1, longitude: 0, radius: 5}]}",
                "1: '5'; expected a length such as 5m or 1.5km, from 1m to 10000000m"
            ),
            (
                "{beacons: [{identifier: shop, uuid: f7826da6-4fa2-4e98-8024-bc5b71e0893e, minor: 1}]}",
                "1: a minor without a major; expected both, or the major alone"
            ),
            (
                "{beacons: [{identifier: shop, uuid: nonsense}]}",
                "1: 'nonsense'; expected a UUID of 4, 8 or 36 characters such as 180D"
            ),
            (
                "{authorization: sometimes}",
                "1: unknown authorization 'sometimes'; expected one of not-determined, restricted, denied, "
                    + "when-in-use, always, allow-once"
            ),
            ("{region: []}", "1: unknown key 'region' in a use of location; expected 'regions'"),
            (
                """
                regions:
                  - {identifier: home, latitude: 1, longitude: 0, radius: 5m}
                  - {identifier: home, latitude: 2, longitude: 0, radius: 5m}
                """,
                "3: a second region 'home'; expected another identifier"
            ),
        ]
    )
    func nonsense(text: String, line: String) {
        let error = #expect(throws: FileError.self) { try use(text) }
        #expect(error?.description == "/places.yaml:" + line)
    }

    private func scenario(_ app: String, _ step: String) throws -> Scenario {
        let text = """
            scenario: home
            apps:
              - {scripted: com.example.a, name: a\(app)}
            steps:
              - {at: 0, \(step)}
            """
        return try Scenario.parse(Array(text.utf8), file: "/home.yaml", files: ScenarioFiles())
    }

    @Test("LOC-10: what the user answers at the first event in the background stands with the app, or in a step")
    func backgroundLocation() throws {
        let keeps = try scenario(
            ", authorizations: {background-location: when-in-use}",
            "authorize: a, location: denied"
        )
        #expect(keeps.apps[0].keepsWhenInUse)
        #expect(keeps.steps[0].verb == .authorize(apps: [0], .denied))
        let allows = try scenario(", authorizations: {background-location: always}", "launch: a")
        #expect(!allows.apps[0].keepsWhenInUse)
        #expect(try !scenario("", "launch: a").apps[0].keepsWhenInUse)
        let step = try scenario("", "authorize: a, background-location: when-in-use")
        #expect(step.steps[0].verb == .user(apps: [0], .keepWhenInUse))
        let back = try scenario("", "authorize: a, background-location: always")
        #expect(back.steps[0].verb == .user(apps: [0], .allowAlways))
    }

    @Test(
        "LOC-10: an answer that nobody can give is refused with the line",
        arguments: [
            (
                "authorize: a, background-location: denied",
                "unknown answer 'denied'; expected one of always, when-in-use"
            ),
            (
                "authorize: a, location: provisional-always",
                "unknown authorization 'provisional-always'; expected one of not-determined, restricted, denied, "
                    + "when-in-use, always, allow-once"
            ),
            (
                "authorize: a, location: always, background-location: always",
                "'background-location' beside 'location' in a step; expected one of the two"
            ),
            (
                "authorize: a, microphone: denied, background-location: always",
                "'background-location' beside 'microphone' in a step; expected one of the two"
            ),
            (
                "launch: a, background-location: always",
                "'background-location' beside 'launch' in a step; expected one of the two"
            ),
        ]
    )
    func wrongAnswer(step: String, line: String) {
        let error = #expect(throws: FileError.self) { try scenario("", step) }
        #expect(error?.description == "/home.yaml:5: " + line)
    }
}
