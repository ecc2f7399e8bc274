// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

/// Where the service says that it has each condition from.
@Suite struct `The sources of the conditions` {
    private func source(_ obstacle: ReadingConditions.Obstacle, _ change: (inout Surroundings) -> Void) -> String? {
        var surroundings = Surroundings()
        change(&surroundings)
        return surroundings.findings.first { $0.obstacle == obstacle }?.source
    }

    @Test(
        arguments: [
            (nil, "There is no /dev/video*."), (true, "A program has /dev/video* open."),
            (false, "Nobody has /dev/video* open."),
        ] as [(Bool?, String)]
    )
    func `Of a camera it is who has it open`(_ isOpen: Bool?, _ text: String) {
        #expect(source(.camera) { $0.isCameraOpen = isOpen } == text)
    }

    @Test func `Of an app it is what the app does`() {
        #expect(source(.readerSession) { _ in } == "No app has a reader session.")
        #expect(source(.readerSession) { $0.isReaderSessionActive = true } == "An app has a reader session.")
        #expect(source(.wallet) { _ in } == "Linux has no Wallet, and no app is a card.")
        #expect(source(.wallet) { $0.isCardActive = true } == "An app is a card.")
        #expect(source(.airplaneMode) { _ in } == "There is no /dev/rfkill: the radios count as on.")
        #expect(source(.airplaneMode) { $0.radios = RadioSwitches() } == "/dev/rfkill")
    }

    @Test func `Of the lock it is what logind says, has said, or does not say`() {
        let session = LoginSession(id: "c1", isActive: true, isLocked: false)
        #expect(
            source(.neverUnlocked) { _ in }
                == "logind reports no session: because the user is here, it counts as unlocked."
        )
        #expect(
            source(.neverUnlocked) { $0.session = session }
                == "logind, LockedHint of the session, remembered for this start of the system"
        )
        #expect(
            source(.neverUnlocked) { $0.isLoginSilent = true }
                == "logind does not answer; what it reported since the system started is remembered"
        )
    }

    @Test(arguments: [
        ("user", true), ("user-early", true), ("user-light", true), ("user-incomplete", true), ("greeter", false),
        ("background", false), ("manager", false), ("lock-screen", false),
    ])
    func `Sessions of every class of users are seen, and no others`(_ name: String, _ isSeen: Bool) {
        let session = LoginSession(id: "1", sessionClass: name, isActive: true, isLocked: true)
        #expect(LoginSession.shown([session], own: nil) == (isSeen ? session : nil))
    }
}
