import Foundation
import Testing

@testable import WakeDevices

/// A sentence with its checksum and line end.
func sentence(_ body: String) -> String {
    let sum = body.utf8.reduce(0, ^)
    return "$\(body)*" + (sum < 16 ? "0" : "") + String(sum, radix: 16, uppercase: true) + "\r\n"
}

private func read(_ text: String) -> (moments: [NMEAReader.Moment], counts: NMEAReader.Counts) {
    var reader = NMEAReader()
    var moments: [NMEAReader.Moment] = []
    reader.read(text.utf8) { moments.append($0) }
    if let last = reader.finish() { moments.append(last) }
    return (moments, reader.counts)
}

private let recommended = sentence("GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W")
private let fix = sentence("GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,")

@Suite("NMEA sentences")
struct NMEATests {
    @Test("RMC and GGA of one moment are one fix")
    func together() throws {
        let (moments, counts) = read(recommended + fix)
        #expect(counts == NMEAReader.Counts(sentences: 2, leftAside: 0, damaged: 0))
        let moment = try #require(moments.first)
        let point = try #require(moment.point)
        #expect(moments.count == 1)
        #expect(abs(point.place.latitude - (48 + 7.038 / 60)) < 1e-12)
        #expect(abs(point.place.longitude - (11 + 31.0 / 60)) < 1e-12)
        #expect(point.altitude == 545.4)
        #expect(abs((point.speed ?? 0) - 22.4 * 0.514444) < 1e-4)
        #expect(point.course == 84.4)
        #expect(point.horizontalAccuracy == 0.9 * NMEAReader.horizontalError)
        // 23 March 1994, 12:35:19 UTC.
        #expect(point.timestamp == 764_426_119)
        #expect(moment.isDated)
    }

    @Test("The checksum of a published sentence is right")
    func checksum() {
        #expect(fix.hasSuffix("*47\r\n"))
        #expect(NMEASentence("$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47".utf8)?.kind == "GGA")
    }

    @Test(
        "A damaged sentence is counted and skipped, and the next is read",
        arguments: [
            "$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*48",
            "$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9", "$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4",
            "$GPGGA,123519,4807.0\u{7}8,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47",
            "GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47",
            "$GPGGA,1235", "$", "$*00", "noise", "\u{fffd}\u{fffd}",
            "$" + String(repeating: "A", count: 5_000),
        ]
    )
    func damaged(line: String) {
        let (moments, counts) = read(line + "\r\n" + recommended)
        #expect(counts.damaged == 1)
        #expect(counts.sentences == 1)
        #expect(moments.count == 1)
    }

    @Test(
        "A sentence whose fields make no sense is damaged though its checksum is right",
        arguments: [
            "GPRMC,123519,A,9107.038,N,01131.000,E,022.4,084.4,230394,,",
            "GPRMC,123519,A,4861.0,N,01131.000,E,,,230394,,",
            "GPRMC,123519,A,4807.038,X,01131.000,E,022.4,084.4,230394,,",
            "GPRMC,253519,A,4807.038,N,01131.000,E,,,230394,,",
            "GPRMC,123519,A,4807.038,N,01131.000,E,,,310294,,", "GPRMC,123519,Q,4807.038,N,01131.000,E,,,230394,,",
            "GPRMC,123519,A,nan,N,01131.000,E,,,230394,,", "GPGGA,123519,4807.038,N,,,1,08,0.9,545.4,M,46.9,M,,",
            "GPGGA,123519,4807.038,N,01131.000,E,99,08,0.9,545.4,M,46.9,M,,", "GPGGA,123519", "GPRMC,123519",
            "GPGGA,1e5,,",
        ]
    )
    func senseless(body: String) {
        let (moments, counts) = read(sentence(body))
        #expect(counts.damaged == 1, "\(body)")
        #expect(moments.isEmpty)
    }

    @Test("A sentence that begins within a cut one is read")
    func cutOff() {
        let (moments, counts) = read("$GPGGA,12351" + recommended + "garbage" + fix)
        #expect(moments.count == 1)
        #expect(counts == NMEAReader.Counts(sentences: 2, leftAside: 0, damaged: 2))
    }

    @Test("Talkers of all constellations are understood, and the one that speaks for all wins")
    func talkers() throws {
        for talker in ["GP", "GN", "GL", "GA", "GB", "BD", "QZ"] {
            let body = "\(talker)RMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W"
            #expect(read(sentence(body)).moments.first?.point != nil)
        }
        let all = sentence("GNGGA,123519,5000.000,N,01131.000,E,1,12,0.5,500.0,M,46.9,M,,")
        #expect(read(fix + all + recommended).moments[0].point?.place.latitude == 50)
        #expect(read(all + fix + recommended).moments[0].point?.place.latitude == 50)
    }

    @Test("A moment without a fix says so: status V, quality 0 or mode 1")
    func withoutFix() {
        let lost = [
            sentence("GPRMC,123520,V,,,,,,,230394,,"),
            sentence("GPGGA,123520,,,,,0,00,99.9,,,,,,"),
            sentence("GPGGA,123520,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,")
                + sentence("GPGSA,A,1,,,,,,,,,,,,,9,9,9"),
            sentence("GPRMC,123520,V,,,,,,,230394,,")
                + sentence("GPGGA,123520,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,"),
        ]
        for text in lost {
            let (moments, counts) = read(recommended + fix + text)
            #expect(moments.map { $0.point != nil } == [true, false])
            #expect(counts.damaged == 0)
        }
        // A receiver that has just been switched on.
        #expect(read(sentence("GPRMC,,V,,,,,,,,,,N")).counts.timeless == 1)
    }

    @Test("Speed and course come from VTG, dilutions from GSA, where the others say none")
    func others() throws {
        let text =
            sentence("GPGGA,123519.50,4807.038,N,01131.000,W,2,08,,545.4,M,46.9,M,,")
            + sentence("GPVTG,054.7,T,034.4,M,010.0,N,018.5,K")
            + sentence("GPGSA,A,3,04,05,,09,12,,,24,,,,,2.5,1.3,2.1") + sentence("GPGSV,1,1,00")
        let (moments, counts) = read(text)
        let point = try #require(moments.first?.point)
        #expect(point.course == 54.7)
        #expect(abs((point.speed ?? 0) - 5.14444) < 1e-4)
        #expect(point.horizontalAccuracy == 1.3 * NMEAReader.horizontalError * 0.25)
        #expect(point.verticalAccuracy == 2.1 * NMEAReader.verticalError * 0.25)
        #expect(point.place.longitude < 0)
        #expect(moments[0].timeOfDay == 45_319_500)
        #expect(!moments[0].isDated)
        #expect(counts == NMEAReader.Counts(sentences: 3, leftAside: 1, damaged: 0))
    }

    @Test("Time goes on over midnight, whether or not the date is said")
    func midnight() {
        func fix(_ time: String) -> String {
            sentence("GPGGA,\(time),4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,")
        }
        func dated(_ time: String, _ date: String) -> String {
            sentence("GPRMC,\(time),A,4807.038,N,01131.000,E,022.4,084.4,\(date),,")
        }
        let undated = read(fix("235959") + fix("000000") + fix("000001")).moments.map(\.timestamp)
        #expect(undated == [86_399, 86_400, 86_401])
        let day = 8_847.0 * 86_400
        let both = read(
            fix("235958") + dated("235958", "230394") + fix("235959") + fix("000000") + dated("000000", "240394")
                + fix("000001")
        )
        #expect(both.moments.map { $0.timestamp - day } == [86_398, 86_399, 86_400, 86_401])
    }

    @Test("Of a whole log, what was there before the first date gets the days before that one")
    func datedLater() throws {
        func fix(_ time: String) -> String {
            sentence("GPGGA,\(time),4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,")
        }
        func dated(_ time: String) -> String {
            sentence("GPRMC,\(time),A,4807.038,N,01131.000,E,022.4,084.4,010325,003.1,W")
        }
        let log = fix("235958.00") + fix("235959.00") + fix("000000.00") + dated("000001.00") + fix("000002.00")
        let moments = NMEAReader.moments(of: Array(log.utf8)).moments
        // 2025-03-01.
        let day = 1_740_787_200.0
        #expect(moments.map(\.timestamp) == [day - 2, day - 1, day, day + 1, day + 2])
        #expect(moments.map { $0.point?.timestamp } == moments.map(\.timestamp))
        let undated = NMEAReader.moments(of: Array((fix("235959.00") + fix("000000.00")).utf8)).moments
        #expect(undated.map(\.timestamp) == [86_399, 86_400])
    }

    @Test("What arrives late of a moment that was finished is left aside")
    func late() {
        var reader = NMEAReader()
        var moments: [NMEAReader.Moment] = []
        reader.read(recommended.utf8) { moments.append($0) }
        if let moment = reader.finish() { moments.append(moment) }
        reader.read(fix.utf8) { moments.append($0) }
        #expect(reader.finish() == nil)
        #expect(moments.count == 1)
    }

    @Test("A log read byte by byte, and scrambled, never crashes and gives the same moments")
    func pieces() throws {
        let log = try Data(contentsOf: URL(fileURLWithPath: packageFolder + "/Devices/Location/gnss-receiver.nmea"))
        var (whole, pieces) = (NMEAReader(), NMEAReader())
        var (first, second): ([NMEAReader.Moment], [NMEAReader.Moment]) = ([], [])
        whole.read(log) { first.append($0) }
        for byte in log { pieces.read([byte]) { second.append($0) } }
        #expect(first == second)
        #expect(first.count == 179)
        #expect(whole.counts.damaged == 0)
        var random = Scrambler(seed: 5)
        let part = Array(log.prefix(1_500))
        for _ in 0..<2_000 {
            var reader = NMEAReader()
            reader.read(random.scramble(part)) { _ in }
            _ = reader.finish()
        }
        for length in 0..<600 {
            var reader = NMEAReader()
            reader.read(part[..<length]) { _ in }
            _ = reader.finish()
        }
    }
}
