// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

func callISO15693Closures(_ tag: any NFCISO15693Tag, _ log: CallLog) {
    tag.sendCustomCommand(
        commandConfiguration: NFCISO15693CustomCommandConfiguration(
            manufacturerCode: 7,
            customCommandCode: 0xA0,
            requestParameters: nil
        )
    ) { _, error in log.add("sendCustomCommand", error) }
    tag.readMultipleBlock(
        readConfiguration: NFCISO15693ReadMultipleBlocksConfiguration(
            range: NSRange(location: 0, length: 2),
            chunkSize: 1
        )
    ) { _, error in log.add("readMultipleBlock", error) }
    tag.stayQuiet { error in log.add("stayQuiet", error) }
    tag.readSingleBlock(requestFlags: [.highDataRate], blockNumber: 1) { _, error in log.add("readSingleBlock", error) }
    tag.readSingleBlock(requestFlags: [.highDataRate], blockNumber: 1) { result in
        log.add("readSingleBlock result", result)
    }
    tag.writeSingleBlock(requestFlags: [.highDataRate], blockNumber: 1, dataBlock: Data([1, 2, 3, 4])) { error in
        log.add("writeSingleBlock", error)
    }
    tag.lockBlock(requestFlags: [.highDataRate], blockNumber: 1) { error in log.add("lockBlock", error) }
    tag.readMultipleBlocks(requestFlags: [.highDataRate], blockRange: NSRange(location: 0, length: 1)) { _, error in
        log.add("readMultipleBlocks", error)
    }
    tag.readMultipleBlocks(requestFlags: [.highDataRate], blockRange: NSRange(location: 0, length: 1)) { result in
        log.add("readMultipleBlocks result", result)
    }
    tag.writeMultipleBlocks(
        requestFlags: [.highDataRate],
        blockRange: NSRange(location: 0, length: 1),
        dataBlocks: [Data([1, 2, 3, 4])]
    ) { error in log.add("writeMultipleBlocks", error) }
    tag.select(requestFlags: [.highDataRate]) { error in log.add("select", error) }
    tag.resetToReady(requestFlags: [.highDataRate]) { error in log.add("resetToReady", error) }
    tag.writeAFI(requestFlags: [.highDataRate], afi: 1) { error in log.add("writeAFI", error) }
    tag.lockAFI(requestFlags: [.highDataRate]) { error in log.add("lockAFI", error) }
    tag.writeDSFID(requestFlags: [.highDataRate], dsfid: 1) { error in log.add("writeDSFID", error) }
    tag.lockDSFID(requestFlags: [.highDataRate]) { error in log.add("lockDSFID", error) }
    tag.getSystemInfo(requestFlags: [.highDataRate]) { result in log.add("getSystemInfo result", result) }
    tag.getMultipleBlockSecurityStatus(requestFlags: [.highDataRate], blockRange: NSRange(location: 0, length: 1)) {
        _,
        error in log.add("getMultipleBlockSecurityStatus", error)
    }
    tag.fastReadMultipleBlocks(requestFlags: [.highDataRate], blockRange: NSRange(location: 0, length: 1)) { result in
        log.add("fastReadMultipleBlocks result", result)
    }
    tag.customCommand(
        requestFlags: [.highDataRate],
        customCommandCode: 0xA0,
        customRequestParameters: Data([1, 2, 3, 4])
    ) { _, error in log.add("customCommand", error) }
    tag.customCommand(
        requestFlags: [.highDataRate],
        customCommandCode: 0xA0,
        customRequestParameters: Data([1, 2, 3, 4])
    ) { result in log.add("customCommand result", result) }
    tag.extendedReadSingleBlock(requestFlags: [.highDataRate], blockNumber: 0xA0) { _, error in
        log.add("extendedReadSingleBlock", error)
    }
    tag.extendedReadSingleBlock(requestFlags: [.highDataRate], blockNumber: 0xA0) { result in
        log.add("extendedReadSingleBlock result", result)
    }
    tag.extendedWriteSingleBlock(requestFlags: [.highDataRate], blockNumber: 0xA0, dataBlock: Data([1, 2, 3, 4])) {
        error in log.add("extendedWriteSingleBlock", error)
    }
    tag.extendedLockBlock(requestFlags: [.highDataRate], blockNumber: 0xA0) { error in
        log.add("extendedLockBlock", error)
    }
    tag.extendedReadMultipleBlocks(requestFlags: [.highDataRate], blockRange: NSRange(location: 0, length: 1)) {
        _,
        error in log.add("extendedReadMultipleBlocks", error)
    }
    tag.extendedWriteMultipleBlocks(
        requestFlags: [.highDataRate],
        blockRange: NSRange(location: 0, length: 1),
        dataBlocks: [Data([1, 2, 3, 4])]
    ) { error in log.add("extendedWriteMultipleBlocks", error) }
    tag.authenticate(requestFlags: [.highDataRate], cryptoSuiteIdentifier: 0xA0, message: Data([1, 2, 3, 4])) {
        result in log.add("authenticate result", result)
    }
    tag.keyUpdate(requestFlags: [.highDataRate], keyIdentifier: 0xA0, message: Data([1, 2, 3, 4])) { result in
        log.add("keyUpdate result", result)
    }
    tag.challenge(requestFlags: [.highDataRate], cryptoSuiteIdentifier: 0xA0, message: Data([1, 2, 3, 4])) { error in
        log.add("challenge", error)
    }
    tag.readBuffer(requestFlags: [.highDataRate]) { result in log.add("readBuffer result", result) }
    tag.extendedGetMultipleBlockSecurityStatus(
        requestFlags: [.highDataRate],
        blockRange: NSRange(location: 0, length: 1)
    ) { result in log.add("extendedGetMultipleBlockSecurityStatus result", result) }
    tag.extendedFastReadMultipleBlocks(requestFlags: [.highDataRate], blockRange: NSRange(location: 0, length: 1)) {
        result in log.add("extendedFastReadMultipleBlocks result", result)
    }
    tag.sendRequest(requestFlags: 0xA0, commandCode: 0xA0, data: nil) { result in log.add("sendRequest result", result)
    }
}

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
