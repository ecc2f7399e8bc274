// SPDX-License-Identifier: Apache-2.0
package import NFCReaders

/// The phone of a running simulator, on which this process is an app.
///
/// Without it, the phone shows the app's name and what it prints. The scanning sheet needs nothing of this.
public final class SimulatedPhone: Sendable {
    /// The phone of this process; nil when `NFC_READER` is not `simulator`.
    public static let ofProcess = SimulatorPhone.ofProcess.map { SimulatedPhone($0) }

    /// The ids of the rows and buttons that are pressed. One task may wait for them.
    public let presses: AsyncStream<String>

    private let phone: SimulatorPhone

    /// Creates an app's side of a simulator's phone; apps use ``ofProcess``.
    package init(_ phone: SimulatorPhone) {
        self.phone = phone
        let (stream, presses) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(100))
        self.presses = stream
        phone.onPress { presses.yield($0) }
    }

    /// Shows a screen. It is shown again when the simulator was started again.
    ///
    /// Returns at once. A screen may have up to 64 KiB as JSON; a larger one is not shown.
    ///
    /// - Parameter screen: the screen; nil for the app's name and what it prints.
    public func show(_ screen: PhoneScreen?) { phone.show(screen?.json) }
}
