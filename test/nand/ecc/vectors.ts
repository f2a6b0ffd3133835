/**
 * Published conventions, checked elsewhere: parity of data[i] = (7 i + 3) & 255, computed with an
 * independent implementation of the Linux kernel's BCH library and with two further encoders. A
 * mask is the complement of the parity of FFh bytes.
 */
export interface GoldenVector {
  readonly m: number;
  readonly t: number;
  readonly dataBytes: number;
  readonly parity: string;
  readonly mask?: string;
}

export const GOLDEN_VECTORS: readonly GoldenVector[] = [
  {
    m: 14,
    t: 24,
    dataBytes: 1024,
    parity: '2b82b2849165d39990b28a3182651d7bf1b909d3f5049470746407be2c888879b0c0d80f7862f43058ab',
    mask: 'cdacd180a6ff244a34716a824ee92d2bbd0565327ad6c19a2887c1518eff392941e463fbc6120ca59c55',
  },
  {
    m: 14,
    t: 28,
    dataBytes: 1024,
    parity: [
      '4debc37af280dcb926adf077622a002b8501a164ee98570acd168b8e681cfc89bf009b8c19b89ef928c2',
      '146cb2cd9a49bf',
    ].join(''),
    mask: [
      'a6ba7c88df269d4d262979a325bd3eabbe904c4e4f619b9493d36dbf0ed356e06e675175b4b0e4f5a40a',
      '22e3903c414519',
    ].join(''),
  },
  {
    m: 14,
    t: 31,
    dataBytes: 1024,
    parity: [
      '91e3dc4c44a416376edb1f32163bc79c2b4d55cc9e685ced6d0ace18932b3c5b1c7dd53131bc1e0cfa88',
      '87bf5dd8037d25d4ad1692c340',
    ].join(''),
  },
  {
    m: 14,
    t: 40,
    dataBytes: 1024,
    parity: [
      '8ec30a35ae246165e4cbf02f5da4095f0d51ebc79ec7a0eaf074ed20eea4dd0cbe431fbf53f293483700',
      '1ccb4510901365227c1bb6b3df151459dd9303594b019efcf14b78cb',
    ].join(''),
  },
  {
    m: 15,
    t: 48,
    dataBytes: 2048,
    parity: [
      '7999b3427a034b21fb96dac57dae3d0d828846aa269a3d4e9b670733a9eb31b4ef40f6beccaff8b311b6',
      '7425ed792b9f3697091dc8a1841f401adf7d6486bbbe474fc3e335cf43817a7df44a1e8da00132f5e81d',
      'e572418ca883',
    ].join(''),
  },
  { m: 13, t: 16, dataBytes: 512, parity: 'f1a9ab186df7f65753fbebb4ee45091f3791a749f62b976b14cc' },
  {
    m: 14,
    t: 28,
    dataBytes: 1031,
    parity: [
      'ae3f676a82f95514712aa4e94e3db28f96f2e9bcce82be0a1a3ebc203efc0b0faac8966d32126e4cb8a6',
      '55195ca4782563',
    ].join(''),
    mask: [
      '2d89e63f33645c0c31a42afae5dc06aca25cf23c62d640fc53269dfed2da87d71faa1da78940bf0e9749',
      '5f85ab85ed97ca',
    ].join(''),
  },
];

/** The data that the parities belong to. */
export function goldenData(dataBytes: number): Uint8Array {
  return Uint8Array.from({ length: dataBytes }, (_, i) => (7 * i + 3) & 255);
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
