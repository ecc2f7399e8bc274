// SPDX-License-Identifier: Apache-2.0
import CClockReading

/// Finds code under test that measures time with a clock of the system. These clocks don't follow the field's time: a
/// client that compares two readings sees no time pass while the field advances by minutes.
///
/// The clocks can't follow, because the same values are also deadlines of real waits, such as those of a condition.
@safe enum ClockReading {
    static func watch() { unsafe nfc_observe_clocks(note) }

    private static let note: @convention(c) (UnsafePointer<CChar>, UnsafeRawPointer) -> Void = { clock, caller in
        guard let tracker = CurrentTest.current?.tracker, tracker.isDriven else { return }
        let call = unsafe String(cString: clock)
        let advice = """
            The code reads \(call), which does not follow the field's time: a time limit that it measures that way does \
            not pass. Use Task.sleep or asyncAfter for time limits.
            """
        guard !tracker.advice.contains(advice), unsafe isClient(UnsafeMutableRawPointer(mutating: caller)) else {
            return
        }
        tracker.advise(advice)
    }

    /// The beginnings of the names of libraries, and of modules of this package, that read clocks for themselves.
    private static let others = (
        libraries: Callers.libraries + ["libdispatch", "libTesting", "libXCTest"],
        modules: ["$s10NFCTestKit", "$s11NFCSessions"]
    )

    /// Whether an address is in code under test, or in its test.
    private static func isClient(_ address: UnsafeMutableRawPointer) -> Bool {
        guard let location = unsafe Symbols.location(of: address) else { return false }
        return !others.libraries.contains { location.file.hasPrefix($0) }
            && !others.modules.contains { location.name.hasPrefix($0) }
    }
}
