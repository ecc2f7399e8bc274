// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

/// Sources that say different things, or say it one after the other.
@Suite struct `Sources of the surroundings that disagree` {
    private static func session(isActive: Bool = true, isLocked: Bool = false, isIdle: Bool = false) -> LoginSession {
        LoginSession(id: "c1", isActive: isActive, isLocked: isLocked, isIdle: isIdle)
    }

    private func surroundings(_ change: (inout Surroundings) -> Void = { _ in }) -> Surroundings {
        var surroundings = Surroundings()
        surroundings.reader = .ready(name: "A reader")
        surroundings.session = Self.session()
        surroundings.wasUnlocked = true
        change(&surroundings)
        return surroundings
    }

    @Test func `Each condition has its name`() {
        #expect(
            Surroundings().findings.map(\.name) == [
                "reader", "unlocked-once", "display", "reader-session", "wallet", "camera", "airplane-mode",
            ]
        )
    }

    @Test func `Of the display it is the first source that says something`() {
        func source(_ change: (inout Surroundings) -> Void) -> String? {
            surroundings(change).findings.first { $0.obstacle == .displayOff }?.source
        }
        #expect(source { $0.session = nil } == "Nothing reports the state of the display: it counts as on.")
        #expect(source { _ in } == "logind: the session is seen and not idle")
        #expect(source { $0.isDisplayLit = true } == "the graphics driver, dpms of the connected displays")
        let composed = source {
            $0.isDisplayLit = false
            $0.powerSaveMode = 0
        }
        #expect(composed == "the compositor's PowerSaveMode")
        let asleep = source {
            $0.powerSaveMode = 0
            $0.isGoingToSleep = true
        }
        #expect(asleep == "logind: the system goes to sleep")
    }

    @Test func `A display that wakes is on again, whatever put it out`() {
        let changes: [(inout Surroundings, Bool) -> Void] = [
            { $0.isGoingToSleep = !$1 }, { $0.powerSaveMode = $1 ? 0 : 1 }, { $0.isDisplayLit = $1 },
        ]
        for (index, change) in changes.enumerated() {
            var state = surroundings()
            change(&state, false)
            #expect(state.conditions.obstacles == [.displayOff], "\(index)")
            change(&state, true)
            #expect(state.conditions.allowReading, "\(index)")
        }
        var known = surroundings()
        known.session = Self.session(isIdle: true)
        #expect(known.conditions.obstacles == [.displayOff])
        known.session = Self.session()
        #expect(known.conditions.allowReading)
    }

    @Test func `Radios that are off are airplane mode, and those that are on are none`() {
        var radios = RadioSwitches()
        radios.take([0, 0, 0, 0, 1, 0, 0, 0])
        #expect(surroundings { $0.radios = radios }.conditions.allowReading)
        radios.take([0, 0, 0, 0, 1, 2, 0, 1])
        #expect(surroundings { $0.radios = radios }.conditions.obstacles == [.airplaneMode])
        #expect(surroundings { $0.radios = RadioSwitches() }.conditions.allowReading)
        #expect(surroundings { $0.isCameraOpen = false }.conditions.allowReading)
    }

    @Test func `Several obstacles are named in the order of the conditions`() {
        let known = surroundings {
            $0.isCameraOpen = true
            $0.isCardActive = true
            $0.isReaderSessionActive = true
            $0.powerSaveMode = 3
            $0.wasUnlocked = false
        }
        #expect(known.conditions.obstacles == [.neverUnlocked, .displayOff, .readerSession, .wallet, .camera])
    }

    @Test func `The screen is locked while one source says so`() {
        var known = surroundings()
        known.session = Self.session(isLocked: true)
        known.isScreenSaverOn = false
        #expect(known.isLocked && !known.isUnlocked)
        known.session = Self.session()
        #expect(!known.isLocked && known.isUnlocked)
        known.isScreenSaverOn = true
        #expect(known.isLocked && !known.isUnlocked)
        // The screen saver ends, and logind still says that it is not locked.
        known.isScreenSaverOn = nil
        #expect(!known.isLocked && known.isUnlocked)
    }

    @Test func `The screen is locked until the last silent one has answered`() {
        var known = surroundings { $0.isScreenSaverOn = false }
        known.silentSavers = ["org.gnome.ScreenSaver", "org.mate.ScreenSaver"]
        known.isLoginSilent = true
        known.silentSavers = ["org.mate.ScreenSaver"]
        #expect(known.isLocked && !known.isUnlocked)
        known.silentSavers = []
        #expect(known.isLocked && !known.isUnlocked)
        known.isLoginSilent = false
        #expect(!known.isLocked && known.isUnlocked)
    }

    @Test func `A screen that was locked when all fell silent is locked, and none that nobody reports is unlocked`() {
        var known = surroundings { $0.session?.isLocked = true }
        known.isLoginSilent = true
        known.session = nil
        known.isLoginSilent = false
        #expect(known.isLocked)
        let unreported = surroundings {
            $0.session = nil
            $0.isScreenSaverOn = false
        }
        #expect(!unreported.isLocked && !unreported.isUnlocked)
    }

    @Test func `Without a session what was unlocked counts only while logind is silent`() {
        for wasUnlocked in [true, false] {
            let silent = surroundings {
                $0.session = nil
                $0.isLoginSilent = true
                $0.wasUnlocked = wasUnlocked
            }
            #expect(silent.conditions.allowReading == wasUnlocked)
            let missing = surroundings {
                $0.session = nil
                $0.wasUnlocked = wasUnlocked
            }
            #expect(missing.conditions.allowReading)
        }
    }
}
