// SPDX-License-Identifier: Apache-2.0
import CSDBus

/// The system's libsystemd with sd-bus. It is opened when it is first needed, so the package builds and runs without
/// it.
enum LibSystemd {
    /// Opens the library. Further calls do nothing.
    ///
    /// - Throws: ``BusError`` with `libraryMissing`.
    static func open() throws(BusError) {
        try check(missing: unsafe ocn_bus_missing().map { unsafe String(cString: $0) })
    }

    /// - Parameter name: the function that the library lacks; empty when there is no library, nil when nothing is missing.
    static func check(missing name: String?) throws(BusError) {
        guard let name else { return }
        throw BusError(
            .libraryMissing,
            name.isEmpty
                ? "libsystemd.so.0 is not installed. Install it with: apt-get install libsystemd0"
                : "The system's libsystemd has no \(name)."
        )
    }
}
