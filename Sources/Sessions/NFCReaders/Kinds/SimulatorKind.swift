// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
package import NFCSessions
package import SimulatorDriver
import TagLink

extension ReaderKind {
    /// The phone of a running simulator.
    static let simulator = ReaderKind(
        usage: "simulator[:PATH]",
        title: "simulator",
        use: .sessions,
        make: { name, _, _ in
            guard name.rest == nil || name.argument != nil else {
                return ResolvedReader(
                    none: "A path is missing. Write simulator:PATH, or simulator for your user's simulator."
                )
            }
            return ResolvedReader(SimulatorReader(path: name.argument))
        },
        problem: { $0.rest == "" ? .unnamed : nil },
        owns: { $0 is SimulatorReader },
        describe: { report in
            report.capabilities = ["Everything that the phone of nfc simulator supports. Bring tags near on its page."]
        },
        silence: "The simulator does not answer. Stop it, and start it again with: nfc simulator"
    )
}

extension ResolvedReader {
    package init(_ reader: SimulatorReader) {
        self.init(.field(reader), isShared: false)
        sheet = SimulatorSheet(reader)
        gate = SimulatorTurn(reader: reader)
        host = SimulatorPhone(reader)
    }
}

package final class SimulatorPhone: SessionHost {
    private let reader: SimulatorReader

    init(_ reader: SimulatorReader) {
        self.reader = reader
        reader.onBackground { _ = NFCEnvironment.process.arbiter.endSession(with: .appInBackground) }
        // The app appears on the phone before its first scan.
        reader.connectSoon()
    }

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
        case .called(let name, let sent, let received, let error):
            reader.noteCall(name, session: session, sent: sent, received: received, error: error)
        }
    }

    // MARK: The app

    /// Shows the app's screen.
    ///
    /// - Parameter screen: the screen as a JSON object; nil for the app's name and output.
    package func show(_ screen: String?) { reader.showScreen(screen) }

    /// Sets the handler that is called with the ID of each pressed row or button; on any thread.
    package func onPress(_ handler: @escaping @Sendable (String) -> Void) { reader.onPress(handler) }

    /// Sets the handler that is called with the activity type, the link and the message of each tag that background
    /// reading opens in this app; on any thread. Links that have already arrived are passed first.
    package func onLink(_ handler: @escaping @Sendable (_ type: String, _ url: String, _ message: [UInt8]) -> Void) {
        reader.onLink { handler($0.activityType, $0.url, $0.message) }
    }
}

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

/// Asks a simulator for its reader: one program at a time, and not while the phone reads in the background.
struct SimulatorTurn: ReaderSharing {
    let reader: SimulatorReader

    func claim(for purpose: ReaderPurpose, clock: any RuntimeClock) async -> (any ReaderClaim)? {
        do throws(LinkError) {
            try await reader.claimTurn()
            return Claim(reader)
        } catch {
            // The first frame fails for the same reason and reports it.
            return nil
        }
    }

    private final class Claim: ReaderClaim {
        private let reader: SimulatorReader

        init(_ reader: SimulatorReader) { self.reader = reader }

        /// Does nothing, because the simulator already knows which tags were read.
        func note(_ identifiers: [[UInt8]]) {}

        deinit { reader.releaseTurn() }
    }
}
