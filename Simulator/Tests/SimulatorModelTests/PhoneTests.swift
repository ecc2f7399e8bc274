// SPDX-License-Identifier: Apache-2.0
import SimulatorModel
import Testing

@Suite struct PhoneTests {
    /// What of the phone is true.
    private func truths(_ bench: Bench) throws -> Set<String> {
        let names = ["locked", "unlocked_since_boot", "screen_on", "camera", "airplane", "wallet"]
        let phone = try bench.state("phone")
        return Set(names.filter { phone[$0] == true })
    }

    @Test("Restarted phone: locked, never unlocked and the wallet closed; camera and airplane mode are as before")
    func restart() throws {
        let bench = Bench()
        for name in ["camera", "airplane", "wallet"] { try bench.act(["do": .string(name), "on": true]) }
        try bench.act(["do": "restart_phone"])
        #expect(try truths(bench) == ["locked", "screen_on", "camera", "airplane"])
        try bench.act(["do": "unlock"])
        #expect(try truths(bench) == ["unlocked_since_boot", "screen_on", "camera", "airplane"])
    }

    @Test("Sheet that waits, and its app leaves the screen: the app is told once; no more with a result on the sheet")
    func background() throws {
        for (state, heard) in [("ready", 1), ("success", 0)] {
            for away: JSON in [["do": "lock"], ["do": "screen", "on": false], ["do": "home"]] {
                let bench = Bench()
                let program = try TestProgram(bench.simulator)
                program.ask(["do": "claim"])
                program.ask(["do": "sheet", "state": .string(state), "title": "", "message": ""])
                for _ in 0..<2 { try bench.act(away) }
                #expect(program.events("background").count == heard, "\(state), \(away.text)")
            }
        }
    }

    @Test("Screen switched off: the phone is locked, and stays locked until it is unlocked")
    func screen() throws {
        let bench = Bench()
        try bench.act(["do": "screen", "on": false])
        #expect(try truths(bench) == ["locked", "unlocked_since_boot"])
        try bench.act(["do": "screen", "on": true])
        #expect(try truths(bench) == ["locked", "unlocked_since_boot", "screen_on"])
        try bench.act(["do": "screen", "on": false])
        try bench.act(["do": "unlock"])
        #expect(try truths(bench) == ["unlocked_since_boot", "screen_on"])
    }
}
