import Foundation
import Testing
import WakeDevices
import WakeModel

@Suite("Sound devices and scripted sound")
struct AudioDeviceTests {
    private func parse(_ text: String) throws -> AudioDevice {
        try AudioDevice.parse(Array(text.utf8), file: "headset.yaml")
    }

    @Test("A sound device is read with all that it says")
    func reads() throws {
        let device = try parse(
            """
            device: audio-device
            name: Headset
            output: headphones
            input: headset-microphone
            hears: {tone: 440}
            plugged: true
            card: Loopback
            faults:
              - {name: out, removed: true}
              - {name: storm, underruns: 7}
            """
        )
        #expect(device.output == .headphones)
        #expect(device.input == .headsetMicrophone)
        #expect(device.hears == .tone(440))
        #expect(device.plugged)
        #expect(device.card == "Loopback")
        #expect(device.faults.map(\.effect) == [.removed, .underruns(7)])
    }

    @Test(
        "What makes no sense is refused with its line",
        arguments: [
            ("device: audio-device\nname: x\n", "without output and input"),
            ("device: audio-device\nname: x\noutput: mouth\n", "headset.yaml:3"),
            ("device: audio-device\nname: x\noutput: usb\nhears: {tone: 0}\n", "headset.yaml:4"),
            ("device: audio-device\nname: x\noutput: usb\nfaults: [{name: a, removed: false}]\n", "true"),
            ("device: audio-device\noutput: usb\n", "name"),
        ]
    )
    func refuses(text: String, says: String) throws {
        do {
            _ = try parse(text)
            Issue.record("read: \(text)")
        } catch let error as FileError {
            #expect(error.description.contains(says), "\(error.description)")
        }
    }

    @Test("Every shipped sound device is read as a device")
    func shipped() throws {
        let folder = packageFolder + "/Devices/Audio"
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".yaml") }
        #expect(files.count >= 2)
        for file in files {
            guard case .audio = try DeviceFile.load(file: folder + "/" + file) else {
                Issue.record("\(file) is no sound device")
                continue
            }
        }
    }

    private func scenario(_ app: String, _ step: String, _ rest: String = "") throws -> Scenario {
        let text = """
            scenario: s
            apps:
              - {scripted: a.b.c, name: a, \(app)}
            steps:
              - {at: 1s, \(step)}
            \(rest)
            """
        return try Scenario.parse(Array(text.utf8), file: "s.yaml")
    }

    @Test("A scripted app says how it uses sound, and steps say what it does")
    func scripted() throws {
        let read = try scenario(
            "audio: {category: playback, options: [duck-others], resumes: false}, authorizations: {microphone: denied}",
            "sound: a, do: stall, for: 2s",
            "settings: {silenceLimit: 10s, audioRelaunches: on}"
        )
        guard case .scripted(let app) = read.apps[0].form, let use = app.audio else {
            Issue.record("no use of sound")
            return
        }
        #expect(use.category == .playback)
        #expect(use.options == [.duckOthers])
        #expect(use.plays && !use.records && use.startsAtLaunch && !use.resumes)
        #expect(read.apps[0].microphone == .denied)
        #expect(read.steps[0].verb == .sound(apps: [0], .stall(.seconds(2))))
        let profile = Profile.ios17.with(read.settings)
        #expect(profile.areas.audio.silenceLimit == .seconds(10))
        #expect(profile.areas.audio.relaunches)
        #expect(try scenario("audio: {}", "call: begin").steps[0].verb == .phone(.callBegan))
        let granted = try scenario("audio: {}", "authorize: a, microphone: granted")
        #expect(granted.steps[0].verb == .microphone(apps: [0], granted: true))
    }

    @Test(
        "Steps about sound that make no sense are refused",
        arguments: [
            ("modes: [audio]", "sound: a, do: play", "5: 'a'; expected a scripted app with 'audio'"),
            (
                "audio: {}", "sound: a, do: dance",
                "5: unknown act 'dance'; expected one of play, stop, tone, silence, stall"
            ),
            ("audio: {}", "sound: a, do: stall", "5: a step without 'for'; expected 'for'"),
            ("audio: {}", "sound: a, do: play, for: 1s", "5: 'for' beside 'play' in a step; expected one of the two"),
            (
                "audio: {plays: false}", "sound: a, do: play",
                "3: a use of sound that neither plays nor records; expected one of both"
            ),
            (
                "audio: {category: loud}", "call: begin",
                "3: unknown category 'loud'; expected one of ambient, solo-ambient, playback, record, "
                    + "play-and-record, multi-route"
            ),
            ("audio: {}", "call: wait", "5: unknown change of a call 'wait'; expected one of begin, end"),
            (
                "audio: {}", "authorize: a, microphone: maybe",
                "5: unknown permission 'maybe'; expected one of granted, denied"
            ),
        ]
    )
    func refusesSteps(app: String, step: String, line: String) {
        let error = #expect(throws: FileError.self) { try scenario(app, step) }
        #expect(error?.description == "s.yaml:" + line)
    }
}
