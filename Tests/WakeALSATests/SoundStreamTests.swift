import Glibc
import SoundCardStandIn
import Testing
@testable import WakeALSA
import WakeSystem
import WakeUdev

@Suite("PCMs of ALSA")
struct SoundStreamTests {
    @Test("A card that is not there is unknown, and the error names it and says what to do in one line")
    func unknown() throws {
        let error = #expect(throws: SoundError.self) { try SoundStream("no-such-card", .playback, asking: .short) }
        #expect(error?.kind == .unknown)
        #expect(error?.device == "no-such-card")
        #expect(
            error?.description
                == "sound card no-such-card: snd_pcm_open: No such file or directory; name a PCM that `aplay -L` lists"
        )
    }

    @Test("A card that has been pulled out before it is opened is unknown, too")
    func pulledOutBefore() throws {
        let card = try SoundCardStandIn()
        card.unplug()
        let error = #expect(throws: SoundError.self) { try SoundStream(card.paced(), .playback, asking: .short) }
        #expect(error?.kind == .unknown)
    }

    @Test("AUD-9: A card grants the period that was asked for, and a buffer of as many periods")
    func grants() throws {
        let stream = try SoundStream("null", .playback, asking: .short)
        #expect(
            stream.granted
                == SoundGrant(rate: 48_000, format: .float32, channels: 2, periodFrames: 240, bufferFrames: 960)
        )
        #expect(stream.granted.frameBytes == 8)
        #expect(stream.granted.nanoseconds(240) == 5_000_000)
    }

    @Test("Of the rates and formats that were asked for the card takes the first that it has")
    func negotiates() throws {
        let card = try SoundCardStandIn()
        let stream = try SoundStream(card.paced(.signed16, rate: 44_100), .playback, asking: .short)
        #expect(stream.granted.rate == 44_100)
        #expect(stream.granted.format == .signed16)
        #expect(stream.granted.frameBytes == 4)
    }

    @Test("A card that has none of them is unsupported, and the same card behind a plug-in that converts is not")
    func unsupported() throws {
        let card = try SoundCardStandIn()
        let name = card.paced(rate: 96_000)
        let error = #expect(throws: SoundError.self) { try SoundStream(name, .playback, asking: .short) }
        #expect(error?.kind == .unsupported)
        let stream = try SoundStream("plug:'\(name)'", .playback, asking: .short)
        #expect(stream.granted.rate == 48_000)
    }

    @Test("A 16-bit sample that becomes a float and then 16 bits again is the same")
    func converts() {
        for sample in Int16.min...Int16.max {
            #expect(SampleConversion.signed16(SampleConversion.float32(sample)) == sample)
        }
        #expect(SampleConversion.signed16(2) == .max)
        #expect(SampleConversion.signed16(-2) == .min)
        #expect(SampleConversion.signed16(.nan) == 0)
        #expect(SampleConversion.signed16(-.infinity) == .min)
    }

    @Test("The cards of this machine are those that the kernel lists")
    func cards() throws {
        let listed = (try? readSmallFile("/proc/asound/cards")) ?? ""
        let indexes = listed.split(separator: "\n").compactMap { $0.split(separator: " ").first.flatMap { Int32($0) } }
        #expect(SoundCard.all(try Udev()).map(\.index) == indexes)
    }

    @Test("A card has come when its control has, and no other file of it tells")
    func cardsComeAndGo() {
        func change(_ action: UdevChange.Action, _ node: String?) -> SoundCardWatch.Change? {
            SoundCardWatch.Change(action, node: node)
        }
        #expect(change(.add, "/dev/snd/controlC3") == .came(3))
        #expect(change(.remove, "/dev/snd/controlC12") == .went(12))
        #expect(change(.change, "/dev/snd/controlC3") == nil)
        #expect(change(.add, "/dev/snd/pcmC3D0p") == nil)
        #expect(change(.add, "/dev/snd/controlCx") == nil)
        #expect(change(.add, nil) == nil)
    }
}
