// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
package import NFCSessions
import SimulatorDriver

/// The phone of a simulator, on which this process is an app.
package final class SimulatorPhone: SessionHost {
    private let reader: SimulatorReader

    init(_ reader: SimulatorReader) {
        self.reader = reader
        // The app is on the phone before it scans.
        reader.connectSoon()
    }

    /// The phone of this process; nil when its reader is not a simulator.
    package static var ofProcess: SimulatorPhone? {
        guard let name = EnvironmentVariable.value("NFC_READER"), ReaderName(name).scheme == ReaderKind.simulator.scheme
        else { return nil }
        return NFCEnvironment.process.host as? SimulatorPhone
    }

    // MARK: SessionHost

    package var withheld: SessionNeeds {
        let switches = reader.switches
        var needs: SessionNeeds = []
        if !switches.hasRadio { needs.insert(.radio) }
        if switches.isBusy { needs.insert(.freeReader) }
        if !switches.hasEntitlement { needs.insert(.entitlement) }
        if !switches.hasUsageText { needs.insert(.usageText) }
        return needs
    }

    package func note(_ event: SessionEvent, of session: Int) {
        switch event {
        case .began(let kind): reader.note("session", session: session, name: "begin", detail: kind)
        case .restarted: reader.note("session", session: session, name: "restart", detail: "")
        case .ended(let reason): reader.note("session", session: session, name: "invalidate", detail: reason)
        case .callback(let name, let detail): reader.note("callback", session: session, name: name, detail: detail)
        }
    }

    // MARK: The app

    /// Shows the app's screen.
    ///
    /// - Parameter screen: the screen as a JSON object; nil for the app's name and output.
    package func show(_ screen: String?) { reader.showScreen(screen) }

    /// Sets what is called with the id of each row or button that is pressed; on any thread.
    package func onPress(_ handler: @escaping @Sendable (String) -> Void) { reader.onPress(handler) }

    /// Sets what is called with the activity type, the link and the message of each tag that background reading opens in
    /// this app; on any thread. Links that came before come first.
    package func onLink(_ handler: @escaping @Sendable (_ type: String, _ url: String, _ message: [UInt8]) -> Void) {
        reader.onLink { handler($0.activityType, $0.url, $0.message) }
    }
}
