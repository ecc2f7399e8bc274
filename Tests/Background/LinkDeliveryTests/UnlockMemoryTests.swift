// SPDX-License-Identifier: Apache-2.0
import LinkDelivery
import Testing

@Suite struct `The memory of an unlocked screen` {
    @Test func `lasts for this start of the system, and is written once`() {
        let disk = SimulatedDisk()
        var memory = UnlockMemory(disk, boot: "one")
        #expect(!memory.isRemembered)
        memory.remember()
        #expect(memory.isRemembered)
        let steps = disk.steps
        #expect(steps > 0)
        memory.remember()
        #expect(memory.isRemembered && disk.steps == steps)
        let files = disk.afterPowerLoss(.allLost)
        #expect(UnlockMemory(SimulatedDisk(files), boot: "one").isRemembered)
        #expect(!UnlockMemory(SimulatedDisk(files), boot: "two").isRemembered)
        #expect(!UnlockMemory(SimulatedDisk(files), boot: nil).isRemembered)
    }

    @Test func `is written again where the last one is of another start, and is none of a file that is too long`() {
        let boot = "9f8e7d6c-0000-4000-8000-123456789abc"
        let disk = SimulatedDisk(["unlocked": Array("another".utf8)])
        var memory = UnlockMemory(disk, boot: boot)
        memory.remember()
        #expect(disk.afterPowerLoss(.allLost) == ["unlocked": Array(boot.utf8)])
        let long = String(repeating: "x", count: 10_000)
        #expect(!UnlockMemory(SimulatedDisk(["unlocked": Array(long.utf8)]), boot: long).isRemembered)
    }

    @Test func `is written with the next unlock where the disk took nothing before`() {
        let disk = RefusingDisk()
        var memory = UnlockMemory(disk, boot: "one")
        disk.isFull = true
        memory.remember()
        #expect(memory.isRemembered && !UnlockMemory(disk, boot: "one").isRemembered)
        disk.isFull = false
        memory.remember()
        #expect(UnlockMemory(disk, boot: "one").isRemembered)
    }

    @Test func `lasts for this run where the system names no start, or the disk takes nothing`() {
        for (disk, boot) in [(SimulatedDisk(), nil), (SimulatedDisk(failsAt: 1), "one")] as [(SimulatedDisk, String?)] {
            var memory = UnlockMemory(disk, boot: boot)
            memory.remember()
            #expect(memory.isRemembered)
            #expect(disk.afterPowerLoss(.allLost) == [:])
        }
    }
}
