import WakeDevices
import WakeModel
import WakeReports

extension TaskHistory {
    /// With a refresh for the use that comes within the time before an expected use and a part of a day, as the run's profile and
    /// settings have them (FETCH-4).
    package init(of log: RunLog) {
        let figures = (Profile.named(log.header.profile) ?? .ios17).areas.backgroundTask
        func time(_ name: String, _ figure: Instant.Span) -> Instant.Span {
            log.header.settings[name].flatMap(DurationText.span) ?? figure
        }
        self.init(log, soon: time("task.lead", figures.lead) + time("task.slot", figures.slot))
    }
}
