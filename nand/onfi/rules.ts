/**
 * The rules of the ONFI bus that a host can break, one constant sentence each.
 *
 * A die does what the part does and reports the broken rule to its sink. Leaving pages out upwards
 * is legal and only counted.
 */

export enum ViolationRule {
  FirstReset,
  PageOrder,
  ProgramCount,
  PlaneAddress,
  CopybackPlane,
  SecondOpener,
  LunEnd,
  OddColumn,
  SynchronousReset,
  ColumnRange,
  WriteProtected,
  UnsupportedOpcode,
  CommandWhileBusy,
  DataTooEarly,
  SetFeaturesWhileBusy,
  FactoryBadBlock,
  CacheSequence,
  ConfirmWithoutOpener,
  SequenceAbandoned,
  AddressCycles,
  AddressRange,
  LunAddress,
  DataInUnexpected,
  DataOutUnexpected,
  DataOutWhileBusy,
  EnhancedStatus,
  FeatureAddress,
  FeatureValue,
  OtpArea,
  WriteProtectWhileBusy,
}

/** The rule in words, as it should have been kept; by rule. */
export const RULE_TEXT: Readonly<Record<ViolationRule, string>> = {
  [ViolationRule.FirstReset]: 'the first command after power-up is RESET (FFh)',
  [ViolationRule.PageOrder]: 'the pages of a block are programmed in rising order',
  [ViolationRule.ProgramCount]: 'a page is programmed once between two erases',
  [ViolationRule.PlaneAddress]: 'the addresses of a multi-plane group differ in plane, not in page',
  [ViolationRule.CopybackPlane]: 'a copyback programs the plane that was read from',
  [ViolationRule.SecondOpener]: 'PROGRAM PAGE 81h follows a multi-plane confirm 11h',
  [ViolationRule.LunEnd]: 'a sequential cache read ends at the last page of its LUN',
  [ViolationRule.OddColumn]: 'a column is even in synchronous mode',
  [ViolationRule.SynchronousReset]: 'SYNCHRONOUS RESET (FCh) is sent in synchronous mode only',
  [ViolationRule.ColumnRange]: 'a column lies inside the page and its spare',
  [ViolationRule.WriteProtected]: 'nothing is programmed or erased while WP# is low',
  [ViolationRule.UnsupportedOpcode]: 'an opcode is one that the part supports',
  [ViolationRule.CommandWhileBusy]: 'a busy LUN gets only status and reset commands',
  [ViolationRule.DataTooEarly]: 'data waits for tADL, tWHR, tCCS or tRR',
  [ViolationRule.SetFeaturesWhileBusy]: 'SET FEATURES waits until every LUN is ready',
  [ViolationRule.FactoryBadBlock]: 'a block that left the factory bad is not used',
  [ViolationRule.CacheSequence]: 'a cache operation is only continued, ended, polled or reset',
  [ViolationRule.ConfirmWithoutOpener]: 'a confirm follows its opener and its address cycles',
  [ViolationRule.SequenceAbandoned]: 'a sequence that was opened or queued is confirmed',
  [ViolationRule.AddressCycles]: 'a command gets exactly its number of address cycles',
  [ViolationRule.AddressRange]: 'an address names a block, page or table that exists',
  [ViolationRule.LunAddress]: 'a row address names a LUN that exists',
  [ViolationRule.DataInUnexpected]: 'data is written only after a command that takes data',
  [ViolationRule.DataOutUnexpected]: 'data is read only after a command that gives data',
  [ViolationRule.DataOutWhileBusy]: 'data is read from a ready LUN',
  [ViolationRule.EnhancedStatus]:
    'READ STATUS ENHANCED (78h) is used only for reads, programs and erases of the array',
  [ViolationRule.FeatureAddress]: 'a feature address is 01h, 10h, 80h, 81h or 90h',
  [ViolationRule.FeatureValue]: 'a feature gets a value that the part supports',
  [ViolationRule.OtpArea]:
    'the OTP area is read and programmed by plain page commands on its pages',
  [ViolationRule.WriteProtectWhileBusy]: 'WP# changes only while the array is ready',
};

/** Who is told of broken rules. */
export interface ViolationSink {
  /**
   * @param rule the rule that was broken
   * @param die number of the die as given to its constructor
   * @param atNs instant of the bus cycle
   */
  violation(rule: ViolationRule, die: number, atNs: number): void;
}
