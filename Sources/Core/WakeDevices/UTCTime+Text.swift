extension UTCTime {
    /// A moment by the Gregorian calendar, to the millisecond.
    package struct Parts: Hashable, Sendable {
        package var year: Int
        package var month: Int
        package var day: Int
        /// Of the day.
        package var milliseconds: Int

        /// Nil for a moment outside of the years 1 to 9999.
        package init?(_ seconds: Double) {
            guard seconds.isFinite, abs(seconds) < 1e12 else { return nil }
            let whole = Int((seconds * 1000).rounded())
            let days = (whole >= 0 ? whole : whole - 86_399_999) / 86_400_000
            milliseconds = whole - days * 86_400_000
            // Days of eras of 400 years, counted from 1 March of the year 0.
            let shifted = days + 719_468
            let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
            let dayOfEra = shifted - era * 146_097
            let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
            let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
            let monthFromMarch = (5 * dayOfYear + 2) / 153
            day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
            month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
            year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
            guard (1...9999).contains(year) else { return nil }
        }

        /// Hours, minutes, seconds and milliseconds, with what stands between the first two and behind the seconds.
        package func time(_ colon: String) -> String {
            let seconds = milliseconds / 1000
            return padded(seconds / 3600, 2) + colon + padded(seconds / 60 % 60, 2) + colon + padded(seconds % 60, 2)
                + "."
                + padded(milliseconds % 1000, 3)
        }

        /// As in `2024-05-06T07:08:09.250Z`.
        package var dateTime: String {
            "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T\(time(":"))Z"
        }
    }

    /// A number in at least so many digits.
    package static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}

private func padded(_ number: Int, _ digits: Int) -> String { UTCTime.padded(number, digits) }
