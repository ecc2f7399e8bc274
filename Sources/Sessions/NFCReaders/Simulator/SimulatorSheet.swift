// SPDX-License-Identifier: Apache-2.0
import NFCSessions
import SimulatorDriver

/// The scanning sheet on the phone of a simulator.
final class SimulatorSheet: ScanSheet {
    private let reader: SimulatorReader

    init(_ reader: SimulatorReader) { self.reader = reader }

    func present(_ content: SheetContent, cancel: @escaping @Sendable () -> Void) {
        reader.showSheet(
            state: content.state.rawValue,
            title: content.title,
            message: content.message,
            showsErrorSymbol: content.showsErrorSymbol,
            onCancel: cancel
        )
    }
}
