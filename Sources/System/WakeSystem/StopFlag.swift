/// Whether somebody wants no more of what is being waited for.
package final class StopFlag {
    package var isAsked = false

    package init() {}
}
