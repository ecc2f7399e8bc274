// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

@Suite struct `Conditions for reading` {
    @Test(arguments: 0..<128)
    func `Tags are read when all seven hold, and each that does not has its reason`(bits: Int) {
        let isGood = (0..<7).map { bits >> $0 & 1 == 1 }
        let conditions = ReadingConditions(
            isSupported: isGood[0],
            wasUnlocked: isGood[1],
            isDisplayOn: isGood[2],
            isReaderSessionActive: !isGood[3],
            isWalletActive: !isGood[4],
            isCameraActive: !isGood[5],
            isAirplaneModeOn: !isGood[6]
        )
        let missing = ReadingConditions.Obstacle.allCases.enumerated().filter { !isGood[$0.offset] }.map(\.element)
        #expect(conditions.obstacles == missing)
        #expect(conditions.allowReading == (bits == 127))
        #expect(Set(missing.map(\.reason)).count == missing.count)
    }
}
