// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

@Suite struct `The surroundings of the service` {
    private static let session = LoginSession(id: "c1", isActive: true, isLocked: false)

    private func surroundings(_ change: (inout Surroundings) -> Void = { _ in }) -> Surroundings {
        var surroundings = Surroundings()
        surroundings.reader = .ready(name: "A reader")
        surroundings.session = Self.session
        surroundings.wasUnlocked = true
        change(&surroundings)
        return surroundings
    }

    @Test func `A condition without a source allows reading, except for the reader`() {
        #expect(Surroundings().conditions.obstacles == [.unsupported])
        #expect(surroundings().conditions.allowReading)
        let without = surroundings { $0.session = nil }
        #expect(without.conditions.allowReading)
        #expect(Surroundings().findings.map(\.obstacle) == ReadingConditions.Obstacle.allCases)
    }

    @Test func `Each source is a condition of its own`() {
        func obstacles(_ change: (inout Surroundings) -> Void) -> [ReadingConditions.Obstacle] {
            surroundings(change).conditions.obstacles
        }
        #expect(obstacles { $0.wasUnlocked = false } == [.neverUnlocked])
        #expect(obstacles { $0.isGoingToSleep = true } == [.displayOff])
        #expect(obstacles { $0.powerSaveMode = 3 } == [.displayOff])
        #expect(obstacles { $0.isDisplayLit = false } == [.displayOff])
        #expect(obstacles { $0.session = LoginSession(id: "c1", isActive: false, isLocked: false) } == [.displayOff])
        #expect(obstacles { $0.isReaderSessionActive = true } == [.readerSession])
        #expect(obstacles { $0.isCardActive = true } == [.wallet])
        #expect(obstacles { $0.isCameraOpen = true } == [.camera])
        // What the compositor says counts for more than what logind guesses.
        let idle = LoginSession(id: "c1", isActive: true, isLocked: false, isIdle: true)
        #expect(obstacles { $0.session = idle } == [.displayOff])
        var both = surroundings { $0.session = idle }
        both.powerSaveMode = 0
        #expect(both.conditions.allowReading)
    }

    @Test func `Of the display the system's sleep counts first, then the compositor, the driver, and logind`() {
        let idle = LoginSession(id: "c1", isActive: true, isLocked: false, isIdle: true)
        let asleep = surroundings {
            $0.isGoingToSleep = true
            $0.powerSaveMode = 0
        }
        #expect(asleep.conditions.obstacles == [.displayOff])
        let composed = surroundings {
            $0.powerSaveMode = 0
            $0.isDisplayLit = false
        }
        #expect(composed.conditions.allowReading)
        let lit = surroundings {
            $0.isDisplayLit = true
            $0.session = idle
        }
        #expect(lit.conditions.allowReading)
    }

    @Test func `A locked screen changes nothing of what is read`() {
        let locked = surroundings { $0.session = LoginSession(id: "c1", isActive: true, isLocked: true) }
        #expect(locked.isLocked && !locked.isUnlocked && locked.conditions.allowReading)
        let saver = surroundings { $0.isScreenSaverOn = true }
        #expect(saver.isLocked && !saver.isUnlocked)
        #expect(surroundings().isUnlocked)
        let unseen = surroundings { $0.session = LoginSession(id: "c1", isActive: false, isLocked: false) }
        #expect(!unseen.isUnlocked)
    }

    @Test func `A screen stays locked when what reported the lock has ended`() {
        var known = surroundings { $0.session?.isLocked = true }
        known.session = nil
        #expect(known.isLocked)
        // The screen saver reports that the screen is not locked.
        known.isScreenSaverOn = false
        #expect(!known.isLocked)
        known.isScreenSaverOn = true
        known.isScreenSaverOn = nil
        #expect(known.isLocked)
        known.session = Self.session
        #expect(!known.isLocked)
    }

    @Test func `A screen saver that does not answer counts as locked until it has`() {
        var known = surroundings { $0.isScreenSaverOn = false }
        known.silentSavers = ["org.gnome.ScreenSaver"]
        #expect(known.isLocked && !known.isUnlocked)
        // Its answer, or another's, changes nothing while one is silent.
        known.isScreenSaverOn = false
        #expect(known.isLocked)
        known.silentSavers = []
        #expect(!known.isLocked && known.isUnlocked)
        // A source that does not know the answer changes nothing.
        var unknown = Surroundings()
        unknown.silentSavers = ["org.gnome.ScreenSaver"]
        unknown.silentSavers = []
        #expect(!unknown.isLocked)
        unknown.isScreenSaverOn = true
        unknown.silentSavers = ["org.gnome.ScreenSaver"]
        unknown.isScreenSaverOn = nil
        unknown.silentSavers = []
        #expect(unknown.isLocked)
    }

    @Test func `A logind that does not answer counts as locked until it has, and as one that was not unlocked yet`() {
        var known = surroundings()
        known.isLoginSilent = true
        #expect(known.isLocked && !known.isUnlocked)
        // A screen saver's answer changes nothing, and what was remembered counts.
        known.isScreenSaverOn = false
        #expect(known.isLocked && known.conditions.allowReading)
        known.isLoginSilent = false
        #expect(!known.isLocked && known.isUnlocked)
        var unknown = surroundings {
            $0.session = nil
            $0.wasUnlocked = false
        }
        unknown.isLoginSilent = true
        #expect(unknown.conditions.obstacles == [.neverUnlocked])
    }

    @Test func `The reader is the obstacle when it does not answer, and when nothing else keeps it from being asked`() {
        func finding(_ reader: ReaderState, isCameraOpen: Bool) -> Surroundings.Finding? {
            surroundings {
                $0.reader = reader
                $0.isCameraOpen = isCameraOpen
            }.findings.first
        }
        #expect(finding(.ready(name: "R"), isCameraOpen: true)?.isMet == true)
        #expect(finding(.ready(name: "R"), isCameraOpen: false)?.source == "R")
        #expect(finding(.missing(reason: "Gone."), isCameraOpen: true)?.isMet == false)
        #expect(finding(.missing(reason: "Gone."), isCameraOpen: false)?.source == "Gone.")
        for name in [nil, "R"] {
            #expect(finding(.unasked(name: name), isCameraOpen: true)?.isMet == true)
            #expect(finding(.unasked(name: name), isCameraOpen: false)?.isMet == false)
            let kept = finding(.unasked(name: name), isCameraOpen: true)
            let awaited = finding(.unasked(name: name), isCameraOpen: false)
            #expect(kept?.source == (name == nil ? "The reader was not asked yet." : "R, when it was last asked."))
            #expect(awaited?.source == (name == nil ? "The reader did not answer yet." : "R: it did not answer yet."))
        }
        let waiting = surroundings { $0.reader = .unasked(name: "R") }
        #expect(waiting.conditions.obstacles == [.unsupported] && waiting.conditions.allowLooking)
        let dark = surroundings { $0.powerSaveMode = 3 }
        #expect(!dark.conditions.allowLooking)
    }

    @Test func `The session is the process's own, or else the one that is seen`() {
        let seen = Self.session
        let other = LoginSession(id: "a9", isActive: false, isLocked: true)
        let greeter = LoginSession(id: "0", sessionClass: "greeter", isActive: true, isLocked: false)
        #expect(LoginSession.shown([greeter, other, seen], own: nil) == seen)
        #expect(LoginSession.shown([greeter, other, seen], own: "a9") == other)
        #expect(LoginSession.shown([greeter, other], own: "") == other)
        #expect(LoginSession.shown([greeter], own: nil) == nil)
        // Who is here over the network does not look at this screen.
        let remote = LoginSession(id: "9", hasSeat: false, isActive: true, isLocked: false)
        #expect(LoginSession.shown([remote, other], own: "9") == other)
        #expect(LoginSession.shown([remote], own: nil) == remote)
        // Where nobody is seen it is always the same one.
        let unseen = LoginSession(id: "b1", isActive: false, isLocked: false)
        #expect(LoginSession.shown([unseen, other], own: nil) == other)
        #expect(LoginSession.shown([other, unseen], own: nil) == other)
    }
}

@Suite struct `The switches of the radios` {
    private func event(_ index: UInt8, _ type: UInt8, _ operation: UInt8, soft: UInt8 = 0, hard: UInt8 = 0) -> [UInt8] {
        [index, 0, 0, 0, type, operation, soft, hard]
    }

    @Test func `Airplane mode is when all are blocked, in software or by a switch`() {
        var radios = RadioSwitches()
        #expect(!radios.isAirplaneModeOn)
        radios.take(event(0, 1, 0, soft: 1))
        radios.take(event(1, 2, 0))
        #expect(!radios.isAirplaneModeOn)
        radios.take(event(1, 2, 2, hard: 1))
        #expect(radios.isAirplaneModeOn)
        radios.take(event(0, 0, 3))
        #expect(!radios.isAirplaneModeOn)
        radios.take(event(0, 0, 3, soft: 1))
        #expect(radios.isAirplaneModeOn)
        radios.take(event(0, 1, 1))
        radios.take(event(1, 2, 1))
        #expect(!radios.isAirplaneModeOn)
    }

    @Test func `All of a type are switched at once, and the others stay`() {
        var radios = RadioSwitches()
        for (index, type): (UInt8, UInt8) in [(0, 1), (1, 2), (2, 2)] { radios.take(event(index, type, 0)) }
        radios.take(event(9, 2, 3, soft: 1))
        #expect(!radios.isAirplaneModeOn)
        radios.take(event(0, 1, 2, soft: 1))
        #expect(radios.isAirplaneModeOn)
        radios.take(event(9, 1, 3))
        #expect(!radios.isAirplaneModeOn)
    }

    @Test func `No more switches are kept than a computer has`() {
        func switches(_ count: Int) -> RadioSwitches {
            var radios = RadioSwitches()
            for index in 0..<count { radios.take([UInt8(index & 0xFF), UInt8(index >> 8), 0, 0, 1, 0, 1, 0]) }
            return radios
        }
        // The last one is on: where it counts, not every radio is off.
        for (count, isOff) in [(255, false), (256, true)] {
            var radios = switches(count)
            radios.take([0xFF, 0xFF, 0, 0, 1, 0, 0, 0])
            #expect(radios.isAirplaneModeOn == isOff)
            // An event of a known radio is still accepted.
            radios.take([0, 0, 0, 0, 1, 2, 0, 0])
            #expect(!radios.isAirplaneModeOn)
        }
    }

    @Test func `A blocked NFC radio is enough, and what is no event changes nothing`() {
        var radios = RadioSwitches()
        radios.take(event(0, 1, 0))
        radios.take(event(7, 8, 0, soft: 1) + [9, 9])
        #expect(radios.isAirplaneModeOn)
        let before = radios
        let isTaken = radios.take([1, 2, 3])
        #expect(!isTaken)
        radios.take(event(0, 1, 77))
        #expect(radios == before)
    }
}

@Suite struct `What the desktop is asked to show` {
    @Test func `Markup only where the desktop has it, actions only where it has them, and a button beside the click`()
        throws
    {
        let uri = try Fixture.uri("mailto:a&b'@c.example")
        let content = try #require(NotificationContent(uri, route: .system(.mail)))
        let plain = NotificationRequest(content, capabilities: ["body", "actions"], replacing: 7)
        #expect(plain.body == "Write a mail to “a&b'@c.example”")
        #expect(plain.actions == ["default", "Open"])
        #expect(plain.replacedNumber == 7)
        let markup = NotificationRequest(content, capabilities: ["body-markup"])
        #expect(markup.body == "Write a mail to “a&amp;b&#39;@c.example”")
        #expect(markup.actions.isEmpty && markup.replacedNumber == 0)
        // A desktop without persistent notifications must keep this one.
        #expect(plain.staysUntilClosed)
        #expect(!NotificationRequest(content, capabilities: ["persistence"]).staysUntilClosed)
        #expect(NotificationRequest(.unusable, capabilities: ["actions"]).actions.isEmpty)
        #expect(["default", "open", "close", ""].map(NotificationRequest.opens) == [true, false, false, false])
    }

    @Test func `Why something was not opened is shown plainly`() {
        let content = NotificationContent.notOpened(reason: "a\u{202E}b\n" + String(repeating: "x", count: 1000))
        #expect(content.body.unicodeScalars.count == 300)
        #expect(!content.body.contains("\u{202E}") && !content.body.contains("\n"))
        #expect(content.actionTitle != nil)
    }
}
