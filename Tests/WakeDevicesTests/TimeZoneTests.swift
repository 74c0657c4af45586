import Foundation
import Testing
import WakeModel

@testable import WakeDevices

@Suite("Time zones of a phone")
struct TimeZoneTests {
    private func read(_ zone: String) throws -> ZoneSetting {
        let text = "scenario: s\nphone: {time-zone: \(zone)}\napps: [{scripted: com.example.a, name: a}]\n"
        return try Scenario.parse(Array(text.utf8), file: "s.yaml").phone.timeZone
    }

    @Test(
        "A zone is an offset or a name of the tz database",
        arguments: [
            (#""+02:00""#, .offset(7_200)), (#""-09:30""#, .offset(-34_200)), (#""+00:00""#, .offset(0)),
            ("Europe/Berlin", .name("Europe/Berlin")), ("Etc/GMT-2", .name("Etc/GMT-2")), ("UTC", .name("UTC")),
            ("America/Argentina/Ushuaia", .name("America/Argentina/Ushuaia")),
        ] as [(String, ZoneSetting)]
    )
    func read(text: String, zone: ZoneSetting) throws { #expect(try read(text) == zone) }

    @Test(
        "What names no zone is refused with what does",
        arguments: [
            "Europe/Atlantis", "Berlin", "CEST", #""+2:00""#, #""++1:00""#, #""+15:00""#, "GMT+2", #""""#, "Europe/",
        ]
    )
    func refused(text: String) {
        let error = #expect(throws: FileError.self) { try read(text) }
        #expect(error?.description.contains("a time zone such as +02:00, -09:30 or Europe/Berlin") == true)
    }

    @Test("A named zone has its daylight saving time in the years around the run, and is known from a year before it")
    func daylightSaving() throws {
        let run = try #require(RunDate("2026-01-30T10:00:30Z")).seconds
        let berlin = ZoneSetting.name("Europe/Berlin").zone(around: run)
        #expect(berlin.name == "Europe/Berlin")
        for (date, offset) in [
            ("2025-07-01T00:00:00Z", 7_200), ("2026-01-30T00:00:00Z", 3_600), ("2026-03-29T00:59:59Z", 3_600),
            ("2026-03-29T01:00:00Z", 7_200), ("2026-10-25T00:59:59Z", 7_200), ("2026-10-25T01:00:00Z", 3_600),
            ("2037-07-01T00:00:00Z", 7_200),
        ] as [(String, Int64)] {
            #expect(berlin.offset(at: try #require(RunDate(date)).seconds) == offset, "\(date)")
        }
        #expect(ZoneSetting.offset(-34_200).zone(around: run) == PhoneZone(offset: -34_200))
        #expect(ZoneSetting(berlin) == .name("Europe/Berlin"))
        #expect(ZoneSetting(PhoneZone(offset: 60)) == .offset(60))
    }

    @Test(
        "A process is told its zone by name, or by its offset in POSIX's form and in Foundation's",
        arguments: [
            (.name("Europe/Berlin"), ["TZ=Europe/Berlin"]), (.offset(0), ["TZ=UTC"]),
            (.offset(20_700), ["TZ=<+0545>-05:45", "TZFILE=GMT+0545"]),
            (.offset(-34_200), ["TZ=<-0930>+09:30", "TZFILE=GMT-0930"]),
        ] as [(ZoneSetting, [String])]
    )
    func variables(zone: ZoneSetting, variables: [String]) { #expect(zone.variables == variables) }
}
