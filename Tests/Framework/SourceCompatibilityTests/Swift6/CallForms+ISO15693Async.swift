// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

func callISO15693Async(_ tag: any NFCISO15693Tag, _ log: CallLog) async {
    do {
        let _: Data = try await tag.sendCustomCommand(
            commandConfiguration: NFCISO15693CustomCommandConfiguration(
                manufacturerCode: 7,
                customCommandCode: 0xA0,
                requestParameters: nil
            )
        )
        log.add("sendCustomCommand async", nil as (any Error)?)
    } catch {
        log.add("sendCustomCommand async", error)
    }
    do {
        let _: Data = try await tag.readMultipleBlock(
            readConfiguration: NFCISO15693ReadMultipleBlocksConfiguration(
                range: NSRange(location: 0, length: 2),
                chunkSize: 1
            )
        )
        log.add("readMultipleBlock async", nil as (any Error)?)
    } catch {
        log.add("readMultipleBlock async", error)
    }
    do {
        try await tag.stayQuiet()
        log.add("stayQuiet async", nil as (any Error)?)
    } catch {
        log.add("stayQuiet async", error)
    }
    do {
        let _: Data = try await tag.readSingleBlock(requestFlags: [.highDataRate], blockNumber: 1)
        log.add("readSingleBlock async", nil as (any Error)?)
    } catch {
        log.add("readSingleBlock async", error)
    }
    do {
        try await tag.writeSingleBlock(requestFlags: [.highDataRate], blockNumber: 1, dataBlock: Data([1, 2, 3, 4]))
        log.add("writeSingleBlock async", nil as (any Error)?)
    } catch {
        log.add("writeSingleBlock async", error)
    }
    do {
        try await tag.lockBlock(requestFlags: [.highDataRate], blockNumber: 1)
        log.add("lockBlock async", nil as (any Error)?)
    } catch {
        log.add("lockBlock async", error)
    }
    do {
        let _: [Data] = try await tag.readMultipleBlocks(
            requestFlags: [.highDataRate],
            blockRange: NSRange(location: 0, length: 1)
        )
        log.add("readMultipleBlocks async", nil as (any Error)?)
    } catch {
        log.add("readMultipleBlocks async", error)
    }
    do {
        try await tag.writeMultipleBlocks(
            requestFlags: [.highDataRate],
            blockRange: NSRange(location: 0, length: 1),
            dataBlocks: [Data([1, 2, 3, 4])]
        )
        log.add("writeMultipleBlocks async", nil as (any Error)?)
    } catch {
        log.add("writeMultipleBlocks async", error)
    }
    do {
        try await tag.select(requestFlags: [.highDataRate])
        log.add("select async", nil as (any Error)?)
    } catch {
        log.add("select async", error)
    }
    do {
        try await tag.resetToReady(requestFlags: [.highDataRate])
        log.add("resetToReady async", nil as (any Error)?)
    } catch {
        log.add("resetToReady async", error)
    }
    do {
        try await tag.writeAFI(requestFlags: [.highDataRate], afi: 1)
        log.add("writeAFI async", nil as (any Error)?)
    } catch {
        log.add("writeAFI async", error)
    }
    do {
        try await tag.lockAFI(requestFlags: [.highDataRate])
        log.add("lockAFI async", nil as (any Error)?)
    } catch {
        log.add("lockAFI async", error)
    }
    do {
        try await tag.writeDSFID(requestFlags: [.highDataRate], dsfid: 1)
        log.add("writeDSFID async", nil as (any Error)?)
    } catch {
        log.add("writeDSFID async", error)
    }
    do {
        try await tag.lockDSFID(requestFlags: [.highDataRate])
        log.add("lockDSFID async", nil as (any Error)?)
    } catch {
        log.add("lockDSFID async", error)
    }
    do {
        let _: NFCISO15693SystemInfo = try await tag.systemInfo(requestFlags: [.highDataRate])
        log.add("systemInfo async", nil as (any Error)?)
    } catch {
        log.add("systemInfo async", error)
    }
    do {
        let _: [NSNumber] = try await tag.getMultipleBlockSecurityStatus(
            requestFlags: [.highDataRate],
            blockRange: NSRange(location: 0, length: 1)
        )
        log.add("getMultipleBlockSecurityStatus async", nil as (any Error)?)
    } catch {
        log.add("getMultipleBlockSecurityStatus async", error)
    }
    do {
        let _: [Data] = try await tag.fastReadMultipleBlocks(
            requestFlags: [.highDataRate],
            blockRange: NSRange(location: 0, length: 1)
        )
        log.add("fastReadMultipleBlocks async", nil as (any Error)?)
    } catch {
        log.add("fastReadMultipleBlocks async", error)
    }
    do {
        let _: Data = try await tag.customCommand(
            requestFlags: [.highDataRate],
            customCommandCode: 0xA0,
            customRequestParameters: Data([1, 2, 3, 4])
        )
        log.add("customCommand async", nil as (any Error)?)
    } catch {
        log.add("customCommand async", error)
    }
    do {
        let _: Data = try await tag.extendedReadSingleBlock(requestFlags: [.highDataRate], blockNumber: 0xA0)
        log.add("extendedReadSingleBlock async", nil as (any Error)?)
    } catch {
        log.add("extendedReadSingleBlock async", error)
    }
    do {
        try await tag.extendedWriteSingleBlock(
            requestFlags: [.highDataRate],
            blockNumber: 0xA0,
            dataBlock: Data([1, 2, 3, 4])
        )
        log.add("extendedWriteSingleBlock async", nil as (any Error)?)
    } catch {
        log.add("extendedWriteSingleBlock async", error)
    }
    do {
        try await tag.extendedLockBlock(requestFlags: [.highDataRate], blockNumber: 0xA0)
        log.add("extendedLockBlock async", nil as (any Error)?)
    } catch {
        log.add("extendedLockBlock async", error)
    }
    do {
        let _: [Data] = try await tag.extendedReadMultipleBlocks(
            requestFlags: [.highDataRate],
            blockRange: NSRange(location: 0, length: 1)
        )
        log.add("extendedReadMultipleBlocks async", nil as (any Error)?)
    } catch {
        log.add("extendedReadMultipleBlocks async", error)
    }
    do {
        try await tag.extendedWriteMultipleBlocks(
            requestFlags: [.highDataRate],
            blockRange: NSRange(location: 0, length: 1),
            dataBlocks: [Data([1, 2, 3, 4])]
        )
        log.add("extendedWriteMultipleBlocks async", nil as (any Error)?)
    } catch {
        log.add("extendedWriteMultipleBlocks async", error)
    }
    do {
        let _: (NFCISO15693ResponseFlag, Data) = try await tag.authenticate(
            requestFlags: [.highDataRate],
            cryptoSuiteIdentifier: 0xA0,
            message: Data([1, 2, 3, 4])
        )
        log.add("authenticate async", nil as (any Error)?)
    } catch {
        log.add("authenticate async", error)
    }
    do {
        let _: (NFCISO15693ResponseFlag, Data) = try await tag.keyUpdate(
            requestFlags: [.highDataRate],
            keyIdentifier: 0xA0,
            message: Data([1, 2, 3, 4])
        )
        log.add("keyUpdate async", nil as (any Error)?)
    } catch {
        log.add("keyUpdate async", error)
    }
    do {
        try await tag.challenge(
            requestFlags: [.highDataRate],
            cryptoSuiteIdentifier: 0xA0,
            message: Data([1, 2, 3, 4])
        )
        log.add("challenge async", nil as (any Error)?)
    } catch {
        log.add("challenge async", error)
    }
    do {
        let _: (NFCISO15693ResponseFlag, Data) = try await tag.readBuffer(requestFlags: [.highDataRate])
        log.add("readBuffer async", nil as (any Error)?)
    } catch {
        log.add("readBuffer async", error)
    }
    do {
        let _: NFCISO15693MultipleBlockSecurityStatus = try await tag.extendedGetMultipleBlockSecurityStatus(
            requestFlags: [.highDataRate],
            blockRange: NSRange(location: 0, length: 1)
        )
        log.add("extendedGetMultipleBlockSecurityStatus async", nil as (any Error)?)
    } catch {
        log.add("extendedGetMultipleBlockSecurityStatus async", error)
    }
    do {
        let _: [Data] = try await tag.extendedFastReadMultipleBlocks(
            requestFlags: [.highDataRate],
            blockRange: NSRange(location: 0, length: 1)
        )
        log.add("extendedFastReadMultipleBlocks async", nil as (any Error)?)
    } catch {
        log.add("extendedFastReadMultipleBlocks async", error)
    }
    do {
        let _: (NFCISO15693ResponseFlag, Data?) = try await tag.sendRequest(
            requestFlags: 0xA0,
            commandCode: 0xA0,
            data: nil
        )
        log.add("sendRequest async", nil as (any Error)?)
    } catch {
        log.add("sendRequest async", error)
    }
}
