import Testing

@testable import WakeDevices

private func whole(_ text: String) -> (moments: [NMEAReader.Moment], counts: NMEAReader.Counts) {
    NMEAReader.moments(of: Array(text.utf8))
}

/// A fix north of 48 degrees, without a date.
private func fix(_ time: String, minutes: String = "07.000", height: String = "545.4") -> String {
    sentence("GPGGA,\(time),48\(minutes),N,01131.000,E,1,08,0.9,\(height),M,46.9,M,,")
}

private func dated(_ time: String, _ date: String, minutes: String = "07.000") -> String {
    sentence("GPRMC,\(time),A,48\(minutes),N,01131.000,E,022.4,084.4,\(date),,,A")
}

private func lost(_ time: String, _ date: String = "") -> String {
    sentence("GPRMC,\(time),V,,,,,,,\(date),,,N")
}

/// 28 November 2026, 10:15:00 UTC.
private let start = 1_795_860_900.0

@Suite("Logs of NMEA receivers")
struct NMEALogTests {
    // MARK: Kinds of sentences

    @Test("GNS gives place, height and dilution, also beside VTG and GLL of the same moment")
    func multipleConstellations() throws {
        let (moments, counts) = whole(
            sentence("GNGNS,101500.00,1030.00000,N,02015.00000,E,AAN,12,0.9,100.0,10.0,,")
                + sentence("GNVTG,90.0,T,,M,20.0,N,37.0,K,A")
                + sentence("GNGLL,1030.00000,N,02015.00000,E,101500.00,A,A")
        )
        let point = try #require(moments.first?.point)
        #expect(moments.count == 1 && counts == NMEAReader.Counts(sentences: 3))
        #expect(point.place == Coordinate(latitude: 10.5, longitude: 20.25))
        #expect(point.altitude == 100)
        #expect(point.course == 90)
        #expect(point.speed == 20 * NMEAReader.knot)
        #expect(point.horizontalAccuracy == 0.9 * NMEAReader.horizontalError)
    }

    @Test("GNS without a fix in any constellation is a moment without one, and a differential fix is surer")
    func modesOfGNS() throws {
        let none = sentence("GNGNS,101501.00,,,,,NNN,00,99.9,,,,")
        let differential = sentence("GNGNS,101502.00,1030.00000,N,02015.00000,E,DA,12,1.0,100.0,10.0,,")
        let (moments, counts) = whole(fix("101500.00") + none + differential)
        #expect(moments.map { $0.point != nil } == [true, false, true])
        #expect(moments.last?.point?.horizontalAccuracy == 0.25 * NMEAReader.horizontalError)
        #expect(counts.damaged == 0)
        // Beside that of all constellations one of each says its corrections, without a place.
        let beside = differential + sentence("GPGNS,101502.00,,,,,,07,,,,5.4,23")
        #expect(whole(beside).moments.first?.point != nil)
        #expect(whole(beside).counts == NMEAReader.Counts(sentences: 1, leftAside: 1))
    }

    @Test("GLL alone gives a place, and its status V a moment without a fix")
    func geographic() {
        let (moments, counts) = whole(
            sentence("GPGLL,1030.00000,N,02015.00000,E,101500,A,A")
                + sentence("GPGLL,1030.00600,S,02015.00000,W,101501,A")
                + sentence("GPGLL,,,,,101502,V,N")
        )
        let places = moments.map(\.point?.place)
        #expect(places.map { $0.map { ($0.latitude * 10_000).rounded() } } == [105_000, -105_001, nil])
        #expect(places.map { $0?.longitude } == [20.25, -20.25, nil])
        #expect(counts == NMEAReader.Counts(sentences: 3))
    }

    @Test("GLL with another fraction of its time is of the moment of the others, and one without a time ends none")
    func loosely() throws {
        let gga = fix("101500.480")
        let rmc = dated("101500.480", "281126")
        for time in ["101500", "101500.477", "101500.485"] {
            let gll = sentence("GPGLL,4807.000,N,01131.000,E,\(time),A")
            for order in [gga + gll + rmc, gll + gga + rmc, gga + rmc + gll] {
                #expect(whole(order).moments.map(\.timestamp) == [start + 0.48], "\(time)")
            }
        }
        // With a fraction of its own it is of another moment.
        let apart = sentence("GPGLL,4807.000,N,01131.000,E,101500.00,A") + fix("101500.20")
        #expect(whole(apart).moments.map(\.timeOfDay) == [36_900_000, 36_900_200])
        let (moments, counts) = whole(gga + sentence("GPGLL,4807.000,N,01131.000,E") + rmc)
        #expect(moments.count == 1)
        #expect(moments.first?.point?.course == 84.4)
        #expect(counts == NMEAReader.Counts(sentences: 2, leftAside: 1))
    }

    @Test("ZDA gives the date, before and behind the fix, and over midnight")
    func longDate() {
        func date(_ time: String, _ day: Int) -> String { sentence("GPZDA,\(time),\(day),06,2021,00,00") }
        // 15 June 2021, 10:15:00 UTC.
        let both = date("101500.00", 15) + fix("101500.00") + date("101501.00", 15) + fix("101501.00")
        let (before, counts) = whole(both)
        #expect(before.map(\.timestamp) == [1_623_752_100, 1_623_752_101])
        #expect(before.allSatisfy(\.isDated) && counts == NMEAReader.Counts(sentences: 4))
        let behind = whole(fix("101500.00") + date("101500.00", 15) + fix("101501.00")).moments
        #expect(behind.map(\.timestamp) == [1_623_752_100, 1_623_752_101])
        let midnight = whole(fix("235959.00") + date("000000.00", 16) + fix("000000.00")).moments
        #expect(midnight.map(\.timestamp) == [1_623_801_599, 1_623_801_600])
        // A clock that is not set says no date, and that of a receiver without a fix is not believed.
        #expect(whole(sentence("GPZDA,,,,,,") + fix("101500.00")).moments.map(\.isDated) == [false])
        let cold = date("000010.00", 6) + lost("000010.00") + fix("101500.00")
        #expect(whole(cold).moments.map(\.isDated) == [false])
        #expect(whole(sentence("GPZDA,101500.00,31,06,2021,00,00")).counts.damaged == 1)
    }

    // MARK: Forms of lines

    @Test("Sentences without checksums are taken, and counted")
    func unchecked() {
        let (moments, counts) = whole(
            """
            $GNRMC,101500.00,A,1000.00000,N,02000.00000,E,2.5,0.0,281126,,,A,V
            $GNGGA,101500.00,1000.00000,N,02000.00000,E,1,08,0.9,100.0,M,40.0,M,,
            $GPGSV,1,1,00
            $PMTK001,314,3
            """
        )
        #expect(moments.map(\.timestamp) == [start])
        #expect(moments.first?.point?.altitude == 100)
        #expect(counts == NMEAReader.Counts(sentences: 2, unchecked: 2, leftAside: 1, makers: 1))
    }

    @Test("Makers' own sentences and those of AIS are whole, and counted as what they are")
    func others() {
        let packed = "!AIVDM,1,1,,A,13aG?P0P00PD;88MD5MTDww@2<0L,0*71\r\n"
        let makers =
            sentence("PUBX,04,101500.00,150621,208500.00,2161,18,0,0,21") + sentence("PMTK001,314,3")
            // Of Garmin, and no RMC.
            + sentence("PGRMC,A,,100") + sentence("PERC,GPavp,101500.00")
        let (moments, counts) = whole(fix("101500.00") + packed + makers + sentence("RD1,1,2"))
        #expect(moments.count == 1)
        #expect(counts == NMEAReader.Counts(sentences: 1, leftAside: 1, makers: 4, packed: 1))
    }

    @Test(
        "TAG blocks and times before a sentence are passed over",
        arguments: [
            "\\s:GP0001,c:1623752500*29\\", "\\g:1-2-73874,n:157036*18\\\\s:GP0001*2A\\",
            "2026-11-28 07:18:31.123456: ",
            "Sat Nov 28 07:18:31 2026: ", "2026-11-28T07:18:31Z\t", "1623752500.123,", "[10:15:00] ",
            "20261128T101500Z ",
            "07:18:31 \\s:GP0001,c:1623752500*29\\",
        ]
    )
    func fronts(front: String) {
        let line = front + dated("101500.00", "281126")
        let (moments, counts) = whole(line + front + fix("101501.00"))
        #expect(moments.map(\.timestamp) == [start, start + 1])
        #expect(counts == NMEAReader.Counts(sentences: 2))
        #expect(NMEASentence(line.utf8.dropLast(2))?.kind == "RMC")
    }

    @Test(
        "What is no time before a sentence is damage",
        arguments: ["garbage", "4807.038,N,01131.000,E,1,08,", "$GPGGA,1235", "\\s:GP0001*2A", "46.9,M,,*47", "12345"]
    )
    func noFront(front: String) {
        #expect(whole(front + fix("101500.00")).counts == NMEAReader.Counts(sentences: 1, damaged: 1))
    }

    @Test("What gpspipe -r says before the sentences is gpsd's own, however long it is")
    func relayed() {
        let devices = String(repeating: #"{"class":"DEVICE","path":"/dev/ttyACM0"},"#, count: 20)
        let (moments, counts) = whole(
            #"{"class":"VERSION","release":"3.22"}"# + "\r\n" + #"{"class":"DEVICES","devices":[\#(devices)]}"# + "\r\n"
                + #"2026-11-28 07:18:31: {"class":"WATCH","enable":true,"nmea":true}"# + "\r\n"
                + dated("101500.00", "281126")
        )
        #expect(moments.map(\.timestamp) == [start])
        #expect(counts == NMEAReader.Counts(sentences: 1, gpsd: 3))
    }

    // MARK: Times

    @Test("A leap second is left out and counted, and time goes on behind it")
    func leapSecond() {
        let (moments, counts) = whole(
            dated("235958.00", "311216") + dated("235959.00", "311216") + dated("235960.00", "311216")
                + dated("000000.00", "010117") + dated("000001.00", "010117")
        )
        #expect(moments.map(\.timestamp) == [1_483_228_798, 1_483_228_799, 1_483_228_800, 1_483_228_801])
        #expect(counts == NMEAReader.Counts(sentences: 4, leapSeconds: 1))
        #expect(whole(dated("235961.00", "311216")).counts.damaged == 1)
    }

    @Test("The same time of three dates is three moments")
    func eachDay() {
        // 1 January 2026, 12:00:00 UTC.
        let noon = [0, 86_400, 172_800].map { 1_767_268_800.0 + $0 }
        let dates = ["010126", "020126", "030126"]
        let (alone, counts) = whole(fix("120000") + fix("120000") + dates.map { dated("120000", $0) }.joined())
        #expect(alone.map(\.timestamp) == noon)
        #expect(counts == NMEAReader.Counts(sentences: 5))
        let before = dates.enumerated().map { day, date in
            fix("120000", minutes: "0\(day).000", height: "\(day)00.0") + dated("120000", date, minutes: "0\(day).000")
        }
        for order in [before, dates.enumerated().map { dated("120000", $1) + fix("120000", height: "\($0)00.0") }] {
            let moments = whole(order.joined()).moments
            #expect(moments.map(\.timestamp) == noon)
            #expect(moments.map { $0.point?.altitude } == [0, 100, 200])
        }
        let minutes = whole(before.joined()).moments.compactMap { $0.point?.place.latitude }.map { ($0 - 48) * 60 }
        #expect(minutes.map { $0.rounded() } == [0, 1, 2])
    }

    @Test("Neither the date nor the time of a receiver before its first fix is believed")
    func coldStart() {
        let (moments, counts) = whole(
            lost("000010.00", "060180") + lost("000011.00", "060180") + dated("101500.00", "281126")
                + dated("101501.00", "281126")
        )
        #expect(moments.map(\.timestamp) == [start, start + 1])
        #expect(counts.untimed == 2)
        let undated = whole(lost("000010.00") + fix("101500.00") + fix("101501.00"))
        #expect(undated.moments.map(\.timestamp) == [36_900, 36_901])
        #expect(undated.counts.untimed == 1)
    }

    @Test("A receiver whose clock leads to its first fix was right about the time, and not about the date")
    func warmStart() {
        let (moments, counts) = whole(
            lost("235958.00", "060180") + lost("235959.00", "060180") + dated("000001.00", "291126")
        )
        // 29 November 2026, 0:00:01 UTC.
        let first = start + 49_501
        #expect(moments.map(\.timestamp) == [first - 3, first - 2, first])
        #expect(moments.map { $0.point == nil } == [true, true, false])
        #expect(counts.untimed == 0)
    }

    @Test("Between fixes a moment without one is believed where its time goes on, and never its date")
    func between() {
        let (moments, counts) = whole(
            dated("101500.00", "281126") + lost("101501.00", "060180") + lost("000010.00", "060180") + fix("101503.00")
        )
        #expect(moments.map(\.timestamp) == [start, start + 1, start + 3])
        #expect(counts.untimed == 1)
    }

    @Test("The last fix before the receiver loses time and place is kept")
    func lastFix() {
        let empty =
            sentence("GPGGA,,,,,,0,00,,,M,,M,,") + sentence("GPRMC,,V,,,,,,,,,,N")
            + sentence("GPGSA,A,1,,,,,,,,,,,,,,,")
        let (moments, counts) = whole(
            fix("101500.00") + dated("101500.00", "281126") + fix("101501.00") + dated("101501.00", "281126") + empty
        )
        #expect(moments.map(\.timestamp) == [start, start + 1])
        #expect(moments.allSatisfy { $0.point != nil })
        #expect(counts == NMEAReader.Counts(sentences: 5, timeless: 2))
    }

    @Test("A GSA that says no fix after another that says one is of the next moment")
    func lastFixBeforeGSA() {
        let found = sentence("GPGSA,A,2,06,07,11,19,22,30,,,,,,,1.4,1.1,0.9,1")
        let gone =
            sentence("GPVTG,,T,,M,,N,,K,N") + sentence("GPGSA,A,1,,,,,,,,,,,,,,,,") + sentence("GPGGA,,,,,,0,,,,,,,,")
            + sentence("GPRMC,,V,,,,,,,,,,N")
        let (moments, counts) = whole(fix("101500.00") + dated("101500.00", "281126") + found + gone + gone)
        #expect(moments.map(\.timestamp) == [start])
        #expect(moments[0].point != nil)
        #expect(counts.timeless == 4)
    }
}
