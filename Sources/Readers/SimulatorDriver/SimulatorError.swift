// SPDX-License-Identifier: Apache-2.0
import TagLink
import TextSafety

/// Why a simulator can't be used.
enum SimulatorError {
    private static let start = "Start it with: nfc simulator"

    static var cancelled: LinkError { LinkError(.cancelled, "The task was cancelled.") }

    static func missing(_ path: String) -> LinkError {
        LinkError(.readerUnavailable, "No simulator runs at \(VisibleText.escaped(path)). \(start)")
    }

    static var gone: LinkError { LinkError(.readerUnavailable, "The simulator has ended. \(start)") }

    static var silent: LinkError {
        LinkError(.readerUnavailable, "The simulator does not answer. Stop it. \(start)")
    }

    static func nonsense(_ reason: String) -> LinkError {
        LinkError(
            .readerUnavailable,
            "What the simulator sent is not understood: \(VisibleText.escaped(reason)) Use the same version of both."
        )
    }

    static func refused(_ reason: String) -> LinkError {
        LinkError(.readerUnavailable, "The simulator refused this program: \(VisibleText.escaped(reason))")
    }
}
