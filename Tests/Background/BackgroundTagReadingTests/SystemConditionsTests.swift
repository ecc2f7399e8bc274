// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

/// When tags are read in the background: the seven conditions, and the sources that they come from.
struct SystemConditionsTests {
    private static let session = LoginSession(id: "c1", isActive: true, isLocked: false)
    private static let idle = LoginSession(id: "c1", isActive: true, isLocked: false, isIdle: true)

    private func systemConditions(_ change: (inout SystemConditions) -> Void = { _ in }) -> SystemConditions {
        var systemConditions = SystemConditions()
        systemConditions.reader = .ready(name: "A reader")
        systemConditions.session = Self.session
        systemConditions.wasUnlocked = true
        change(&systemConditions)
        return systemConditions
    }

    @Test func `Reading conditions: tags are read when all seven hold`() {
        for bits in 0..<128 {
            let missing = ReadingConditions.Obstacle.allCases.enumerated()
                .filter { bits >> $0.offset & 1 == 0 }.map(\.element)
            let conditions = ReadingConditions(obstacles: Set(missing))
            #expect(conditions.obstacles == missing)
            #expect(conditions.allowReading == (bits == 127))
        }
    }

    @Test func `SystemConditions: without sources only the reader is an obstacle`() {
        #expect(SystemConditions().conditions.obstacles == [.unsupported])
        #expect(systemConditions().conditions.allowReading)
        #expect(systemConditions { $0.session = nil }.conditions.allowReading)
        #expect(SystemConditions().findings.map(\.obstacle) == ReadingConditions.Obstacle.allCases)
        let names = ["reader", "unlocked-once", "display", "reader-session", "wallet", "camera", "airplane-mode"]
        #expect(SystemConditions().findings.map(\.name) == names)
    }

    @Test func `System conditions: each state that prevents reading gives its obstacle, and all together give all`() {
        var off = RadioSwitches()
        off.take([0, 0, 0, 0, 1, 0, 1, 0])
        let rows: [(ReadingConditions.Obstacle, (inout SystemConditions) -> Void)] = [
            (.neverUnlocked, { $0.wasUnlocked = false }), (.displayOff, { $0.isGoingToSleep = true }),
            (.displayOff, { $0.powerSaveMode = 3 }), (.displayOff, { $0.isDisplayLit = false }),
            (.displayOff, { $0.session = Self.idle }), (.displayOff, { $0.session?.isActive = false }),
            (.readerSession, { $0.isReaderSessionActive = true }), (.wallet, { $0.isCardActive = true }),
            (.camera, { $0.isCameraOpen = true }), (.airplaneMode, { $0.radios = off }),
        ]
        for (index, row) in rows.enumerated() {
            #expect(systemConditions(row.1).conditions.obstacles == [row.0], "row \(index)")
        }
        let all = systemConditions { state in for row in rows { row.1(&state) } }
        #expect(all.conditions.obstacles == Array(ReadingConditions.Obstacle.allCases.dropFirst()))
    }

    @Test func `Display: on or off by sleep first, then by the compositor, then by the driver, then by logind`() {
        let rows: [(Bool, (inout SystemConditions) -> Void)] = [
            (
                false,
                {
                    $0.isGoingToSleep = true; $0.powerSaveMode = 0
                }
            ),
            (
                true,
                {
                    $0.powerSaveMode = 0; $0.isDisplayLit = false
                }
            ),
            (
                true,
                {
                    $0.isDisplayLit = true; $0.session = Self.idle
                }
            ),
            (
                true,
                {
                    $0.powerSaveMode = 0; $0.session = Self.idle
                }
            ),
        ]
        for (index, row) in rows.enumerated() {
            #expect(systemConditions(row.1).conditions.allowReading == row.0, "row \(index)")
        }
    }

    @Test func `Lock: one source locks the screen, also after its end until another reports unlocked; tags are read`() {
        let rows: [(isLocked: Bool, isUnlocked: Bool, change: (inout SystemConditions) -> Void)] = [
            (false, true, { _ in }),
            (
                true, false,
                {
                    $0.session?.isLocked = true; $0.isScreenSaverOn = false
                }
            ),
            (true, false, { $0.isScreenSaverOn = true }), (false, false, { $0.session?.isActive = false }),
            (true, false, { $0.silentSavers = ["a"] }), (true, false, { $0.isLoginSilent = true }),
            (
                true, false,
                {
                    $0.isScreenSaverOn = false; $0.silentSavers = ["a", "b"]; $0.silentSavers = ["b"]
                }
            ),
            (
                false, true,
                {
                    $0.isScreenSaverOn = false; $0.silentSavers = ["a"]; $0.silentSavers = []
                }
            ),
            // What was locked stays locked when its source ends, until another one reports the contrary.
            (
                true, false,
                {
                    $0.session?.isLocked = true; $0.session = nil
                }
            ),
            (
                false, false,
                {
                    $0.session?.isLocked = true; $0.session = nil; $0.isScreenSaverOn = false
                }
            ),
            (
                true, false,
                {
                    $0.session = nil; $0.isScreenSaverOn = true; $0.isScreenSaverOn = nil
                }
            ),
            (
                false, true,
                {
                    $0.isScreenSaverOn = true; $0.isScreenSaverOn = nil; $0.session = Self.session
                }
            ),
            (
                true, false,
                {
                    $0.session?.isLocked = true; $0.isLoginSilent = true; $0.session = nil; $0.isLoginSilent = false
                }
            ),
            (
                false, false,
                {
                    $0.session = nil; $0.isScreenSaverOn = false
                }
            ),
        ]
        for (index, row) in rows.enumerated() {
            let state = systemConditions(row.change)
            #expect(state.isLocked == row.isLocked && state.isUnlocked == row.isUnlocked, "row \(index)")
        }
        let locked = systemConditions { $0.session?.isLocked = true }
        #expect(locked.conditions.allowReading)
    }

    @Test func `Lock: while logind does not answer, tags are read if the screen was unlocked before`() {
        for wasUnlocked in [true, false] {
            let silent = systemConditions {
                $0.session = nil
                $0.isLoginSilent = true
                $0.wasUnlocked = wasUnlocked
            }
            #expect(silent.conditions.allowReading == wasUnlocked)
        }
    }

    @Test func `Reader that was not asked: an obstacle only if no other obstacle keeps the service from asking`() {
        let rows: [(ReaderState, isCameraOpen: Bool, isMet: Bool)] = [
            (.ready(name: "R"), true, true), (.ready(name: "R"), false, true), (.missing(reason: "Gone."), true, false),
            (.missing(reason: "Gone."), false, false), (.unasked(name: nil), true, true),
            (.unasked(name: "R"), true, true), (.unasked(name: "R"), false, false),
        ]
        for (reader, isCameraOpen, isMet) in rows {
            let state = systemConditions {
                $0.reader = reader
                $0.isCameraOpen = isCameraOpen
            }
            #expect(state.findings.first?.isMet == isMet, "\(reader)")
        }
        let waiting = systemConditions { $0.reader = .unasked(name: "R") }
        #expect(!waiting.conditions.allowReading && waiting.conditions.allowLooking)
        #expect(!systemConditions { $0.powerSaveMode = 3 }.conditions.allowLooking)
    }

    @Test func `Login session: one with a seat is taken first, then the process's own, then an active one, no greeter`()
    {
        let seen = Self.session
        let other = LoginSession(id: "a9", isActive: false, isLocked: true)
        let unseen = LoginSession(id: "b1", isActive: false, isLocked: false)
        let greeter = LoginSession(id: "0", sessionClass: "greeter", isActive: true, isLocked: false)
        let remote = LoginSession(id: "9", hasSeat: false, isActive: true, isLocked: false)
        let rows: [([LoginSession], own: String?, LoginSession?)] = [
            ([greeter, other, seen], nil, seen), ([greeter, other, seen], "a9", other), ([greeter, other], "", other),
            ([greeter], nil, nil), ([remote, other], "9", other), ([remote], nil, remote),
            ([unseen, other], nil, other),
            ([other, unseen], nil, other),
        ]
        for (index, row) in rows.enumerated() {
            #expect(LoginSession.shown(row.0, own: row.own) == row.2, "row \(index)")
        }
        for (name, isSeen) in [("user", true), ("user-early", true), ("background", false), ("manager", false)] {
            let session = LoginSession(id: "1", sessionClass: name, isActive: true, isLocked: true)
            #expect((LoginSession.shown([session], own: nil) != nil) == isSeen, "\(name)")
        }
    }

    // MARK: Radios

    /// Events of /dev/rfkill (linux/rfkill.h): index, type, operation, soft block, hard block; and whether all radios are off.
    @Test func `Airplane mode: it is on when all radios are blocked, or the NFC radio`() {
        let rows: [(events: [[UInt8]], isOn: Bool)] = [
            ([], false), ([[0, 1, 0, 1, 0]], true), ([[0, 1, 0, 1, 0], [1, 2, 0, 0, 0]], false),
            ([[0, 1, 0, 1, 0], [1, 2, 0, 0, 0], [1, 2, 2, 0, 1]], true),
            ([[0, 1, 0, 1, 0], [1, 2, 0, 1, 0], [9, 0, 3, 0, 0]], false),
            ([[0, 1, 0, 0, 0], [1, 2, 0, 0, 0], [9, 0, 3, 1, 0]], true),
            ([[0, 1, 0, 1, 0], [1, 2, 0, 0, 0], [9, 2, 3, 1, 0]], true), ([[0, 1, 0, 1, 0], [0, 1, 1, 0, 0]], false),
            ([[0, 1, 0, 1, 0], [1, 2, 0, 0, 0], [1, 2, 1, 0, 0]], true), ([[0, 1, 0, 0, 0], [7, 8, 0, 1, 0]], true),
            ([[0, 1, 0, 1, 0], [0, 1, 77, 0, 0]], true),
        ]
        for (events, isOn) in rows {
            var radios = RadioSwitches()
            for event in events { radios.take([event[0], 0, 0, 0] + event[1...]) }
            #expect(radios.isAirplaneModeOn == isOn, "\(events)")
        }
        var radios = RadioSwitches()
        let isTaken = radios.take([1, 2, 3])
        #expect(!isTaken && radios == RadioSwitches())
    }

    @Test func `Airplane mode: a radio is known by all four bytes of its index, and at most 256 are kept`() {
        for place in 0..<4 {
            var index: [UInt8] = [0, 0, 0, 0]
            index[place] = 1
            var radios = RadioSwitches()
            radios.take([0, 0, 0, 0, 1, 0, 1, 0])
            radios.take(index + [2, 0, 0, 0])
            #expect(!radios.isAirplaneModeOn, "byte \(place)")
        }
        for (count, isOn) in [(255, false), (256, true)] {
            var radios = RadioSwitches()
            for index in 0..<count { radios.take([UInt8(index & 0xFF), UInt8(index >> 8), 0, 0, 1, 0, 1, 0]) }
            radios.take([0xFF, 0xFF, 0, 0, 1, 0, 0, 0])
            #expect(radios.isAirplaneModeOn == isOn)
        }
    }
}
